//! PNG (ISO/IEC 15948), and its animations (APNG, in the third edition of PNG).

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use crate::image::Image;

/// How hard images are compressed; beyond it files hardly shrink and time grows.
const LEVEL: u32 = 4;

/// One picture as a file.
pub fn still(image: &Image) -> Vec<u8> {
    let mut file = begin(image);
    chunk(&mut file, b"IDAT", &data(image));
    chunk(&mut file, b"IEND", &[]);
    file
}

/// Pictures of one size, one after the other, for ever; each for some milliseconds. A reader
/// without animations shows the first.
///
/// # Panics
/// Without images.
pub fn animation(images: &[Image], milliseconds: u16) -> Vec<u8> {
    let mut file = begin(&images[0]);
    chunk(&mut file, b"acTL", &[(images.len() as u32).to_be_bytes(), [0; 4]].concat());
    let mut sequence = 0_u32;
    let mut next = || {
        sequence += 1;
        (sequence - 1).to_be_bytes()
    };
    for (index, image) in images.iter().enumerate() {
        let mut control = next().to_vec();
        control.extend(size(image));
        control.extend([0; 8]);
        control.extend(milliseconds.to_be_bytes());
        control.extend(1000_u16.to_be_bytes());
        // The frame stays, and the next one replaces it.
        control.extend([0, 0]);
        chunk(&mut file, b"fcTL", &control);
        if index == 0 {
            chunk(&mut file, b"IDAT", &data(image));
        } else {
            let mut frame = next().to_vec();
            frame.extend(data(image));
            chunk(&mut file, b"fdAT", &frame);
        }
    }
    chunk(&mut file, b"IEND", &[]);
    file
}

fn size(image: &Image) -> Vec<u8> {
    [(image.width as u32).to_be_bytes(), (image.height as u32).to_be_bytes()].concat()
}

fn begin(image: &Image) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    // 8 bits for each of three colours, without interlacing.
    let header = [size(image), vec![8, 2, 0, 0, 0]].concat();
    chunk(&mut file, b"IHDR", &header);
    file
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    file.extend(kind);
    file.extend(content);
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(content);
    file.extend(crc.sum().to_be_bytes());
}

/// Rows, each behind a byte for its filter: the row above where that is nearer, as in pictures of
/// large areas of one colour, else none.
fn data(image: &Image) -> Vec<u8> {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
    let mut row = Vec::with_capacity(1 + 3 * image.width);
    for y in 0..image.height {
        row.clear();
        let pixels = &image.pixels[y * image.width..(y + 1) * image.width];
        let above = y.checked_sub(1).map(|above| &image.pixels[above * image.width..(above + 1) * image.width]);
        match above.filter(|above| *above == pixels) {
            Some(_) => row.resize(1 + 3 * image.width, 0),
            None => {
                row.push(0);
                row.extend(pixels.iter().flatten());
            }
        }
        if above == Some(pixels) {
            row[0] = 2;
        }
        // Writing to memory cannot fail.
        let _ = zlib.write_all(&row);
    }
    zlib.finish().unwrap_or_default()
}
