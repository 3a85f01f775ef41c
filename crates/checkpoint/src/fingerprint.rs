//! A short name for the set of tensors a checkpoint has.

use crate::Tensor;

/// FNV-1a, 64 bits (Fowler, Noll, Vo), over the tensors in the order of their names.
pub fn of(tensors: &[Tensor]) -> String {
    let mut order: Vec<&Tensor> = tensors.iter().collect();
    order.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let mut hash = Fnv(0xCBF2_9CE4_8422_2325);
    for tensor in order {
        // Every text is preceded by its length, so that no two sets run together into the same bytes.
        for text in [tensor.name.as_str(), tensor.dtype.name()] {
            hash.number(text.len() as u64);
            hash.bytes(text.as_bytes());
        }
        hash.number(tensor.shape.len() as u64);
        tensor.shape.iter().for_each(|&axis| hash.number(axis));
        hash.number(tensor.len_bytes);
    }
    format!("{:016x}", hash.0)
}

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use units::Dtype;

    use super::*;
    use crate::FileIdx;

    #[test]
    fn fnv_matches_its_published_vectors() {
        // From the test suite of the authors (test_fnv.c): the empty text, `a`, `foobar`.
        for (text, value) in
            [("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8)]
        {
            let mut hash = Fnv(0xCBF2_9CE4_8422_2325);
            hash.bytes(text.as_bytes());
            assert_eq!(hash.0, value, "{text}");
        }
    }

    #[test]
    fn only_what_matters_changes_it() {
        let tensor = |name: &str, dtype, shape: &[u64], file, offset_bytes| Tensor {
            name: name.to_string(),
            dtype,
            shape: shape.to_vec(),
            file: FileIdx(file),
            offset_bytes,
            len_bytes: 24,
        };
        let base = of(&[tensor("a", Dtype::F32, &[2, 3], 0, 0), tensor("b", Dtype::F32, &[6], 0, 24)]);
        let same = of(&[tensor("b", Dtype::F32, &[6], 1, 8), tensor("a", Dtype::F32, &[2, 3], 0, 64)]);
        assert_eq!((base.as_str(), base.len()), (same.as_str(), 16));
        for other in [
            [tensor("a", Dtype::F32, &[3, 2], 0, 0), tensor("b", Dtype::F32, &[6], 0, 24)],
            [tensor("a", Dtype::I32, &[2, 3], 0, 0), tensor("b", Dtype::F32, &[6], 0, 24)],
            [tensor("a", Dtype::F32, &[2, 3], 0, 0), tensor("c", Dtype::F32, &[6], 0, 24)],
        ] {
            assert_ne!(of(&other), base);
        }
    }
}
