//! Values in messages.

/// Values as bytes.
pub trait Wire: Copy + Default {
    /// Bytes of a value.
    const BYTES: usize;

    /// Appends the bytes.
    fn put_bytes(self, bytes: &mut Vec<u8>);

    /// From as many bytes.
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! wire {
    ($($number:ty),*) => {$(
        impl Wire for $number {
            const BYTES: usize = size_of::<$number>();

            fn put_bytes(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn from_bytes(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$number>()];
                own.iter_mut().zip(bytes).for_each(|(own, &byte)| *own = byte);
                <$number>::from_le_bytes(own)
            }
        }
    )*};
}

wire!(f32, f64, u8, u32, u64);

impl Wire for bool {
    const BYTES: usize = 1;

    fn put_bytes(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        bytes.first().is_some_and(|&byte| byte != 0)
    }
}

/// One after the other.
impl<A: Wire, B: Wire> Wire for (A, B) {
    const BYTES: usize = A::BYTES + B::BYTES;

    fn put_bytes(self, bytes: &mut Vec<u8>) {
        self.0.put_bytes(bytes);
        self.1.put_bytes(bytes);
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let (first, second) = bytes.split_at(A::BYTES.min(bytes.len()));
        (A::from_bytes(first), B::from_bytes(second))
    }
}
