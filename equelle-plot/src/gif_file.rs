//! Files of GIF and of its animations.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use gif::{Encoder, Frame, Repeat};

use crate::colour::Colour;
use crate::image::Image;

/// Greys that every file has, for the edges of letters.
const GREYS: usize = 16;

/// Colours of a file.
const COLOURS: usize = 256;

/// Pictures of one size as a file: one, or several one after the other, for ever, each for some
/// milliseconds, of which hundredths of a second count. The most frequent colours of all of them
/// are exact, the others become the nearest of these.
///
/// # Panics
/// Without images or pixels, and if sizes differ.
pub fn file(images: &[Image], milliseconds: u16) -> Vec<u8> {
    let (palette, numbers) = palette(images);
    let [width, height] = [images[0].width, images[0].height].map(|n| u16::try_from(n).expect("pictures have at most 10,000 pixels"));
    let write = || {
        let mut encoder = Encoder::new(Vec::new(), width, height, palette.as_flattened())?;
        if images.len() > 1 {
            encoder.set_repeat(Repeat::Infinite)?;
        }
        for image in images {
            let mut pixels = Vec::with_capacity(image.pixels.len());
            for run in runs(image) {
                pixels.resize(pixels.len() + run.len(), numbers[&run[0]]);
            }
            let frame = Frame { delay: milliseconds / 10, ..Frame::from_indexed_pixels(width, height, pixels, None) };
            encoder.write_frame(&frame)?;
        }
        encoder.into_inner()
    };
    write().expect("pictures have pixels, and memory takes them")
}

/// Neighbours of one colour.
fn runs(image: &Image) -> impl Iterator<Item = &[Colour]> {
    image.pixels.chunk_by(|a, b| a == b)
}

/// Colours of a file, and the number of that which is nearest to each colour of the images.
fn palette(images: &[Image]) -> (Vec<Colour>, BTreeMap<Colour, u8>) {
    let mut counts: BTreeMap<Colour, usize> = BTreeMap::new();
    for run in images.iter().flat_map(runs) {
        *counts.entry(run[0]).or_default() += run.len();
    }
    let mut palette: Vec<Colour> = (0..GREYS).map(|grey| [(grey * 255 / (GREYS - 1)) as u8; 3]).collect();
    let mut others: Vec<(Colour, usize)> = counts.iter().map(|(&colour, &count)| (colour, count)).collect();
    others.retain(|(colour, _)| !palette.contains(colour));
    others.sort_by_key(|&(colour, count)| (Reverse(count), colour));
    palette.extend(others.iter().map(|(colour, _)| colour).take(COLOURS - GREYS));
    let distance = |a: Colour, b: Colour| a.iter().zip(b).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum::<u32>();
    let nearest = |colour: Colour| (0..palette.len()).min_by_key(|&number| distance(palette[number], colour)).unwrap_or(0);
    let numbers = counts.keys().map(|&colour| (colour, nearest(colour) as u8)).collect();
    (palette, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 240 most frequent of 300 colours are exact; brighter ones are more frequent.
    #[test]
    fn frequent_colours_are_exact() {
        let colour = |n: usize| [(n % 256) as u8, (n / 256) as u8, 99];
        let pixels: Vec<Colour> = (0..300).flat_map(|n| vec![colour(n); n + 1]).chain([[0; 3], [255; 3], [140; 3]]).collect();
        let image = Image { width: pixels.len(), height: 1, pixels };
        let (palette, numbers) = palette(&[image]);
        let found = |colour: Colour| palette[usize::from(numbers[&colour])];
        assert_eq!(palette.len(), 256);
        assert!((60..300).all(|n| found(colour(n)) == colour(n)) && found(colour(59)) == colour(60));
        assert_eq!([found([0; 3]), found([255; 3]), found([140; 3])], [[0; 3], [255; 3], [136; 3]]);
    }
}
