//! Files of PNG and of its animations (APNG).

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};

use crate::colour::Colour;
use crate::image::Image;

/// Pictures of one size as a file: one, or several one after the other, for ever, each for some
/// milliseconds. A reader without animations shows the first.
///
/// # Panics
/// Without images or pixels, and if sizes differ.
pub fn file(images: &[Image], milliseconds: u16) -> Vec<u8> {
    let write = || {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, images[0].width as u32, images[0].height as u32);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(Compression::Balanced);
        if images.len() > 1 {
            encoder.set_animated(images.len() as u32, 0)?;
            encoder.set_frame_delay(milliseconds, 1000)?;
        }
        let mut writer = encoder.write_header()?;
        for image in images {
            writer.write_image_data(image.pixels.as_flattened())?;
        }
        writer.finish()?;
        Ok::<_, EncodingError>(file)
    };
    write().expect("pictures have pixels, and memory takes them")
}

/// Numbers of colours as a file: one byte for each pixel.
///
/// # Panics
/// Without pixels.
pub fn indexed(width: usize, numbers: &[u8], palette: &[Colour]) -> Vec<u8> {
    let write = || {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, width as u32, (numbers.len() / width) as u32);
        encoder.set_color(ColorType::Indexed);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_palette(palette.as_flattened());
        encoder.set_compression(Compression::Balanced);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(numbers)?;
        writer.finish()?;
        Ok::<_, EncodingError>(file)
    };
    write().expect("a picture has pixels, and memory takes them")
}
