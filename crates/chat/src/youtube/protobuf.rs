//! As much of protocol buffers as a continuation token needs: fields in their order, read and written without a schema.

/// One field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) number: u64,
    pub(super) value: Value,
}

/// A field's value, by its wire type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Varint(u64),
    Fixed64([u8; 8]),
    /// Bytes, a text, or a message within.
    Bytes(Vec<u8>),
    Fixed32([u8; 4]),
}

impl Field {
    pub(super) const fn varint(number: u64, value: u64) -> Self {
        Self { number, value: Value::Varint(value) }
    }

    pub(super) fn bytes(number: u64, value: impl Into<Vec<u8>>) -> Self {
        Self { number, value: Value::Bytes(value.into()) }
    }

    pub(super) fn message(number: u64, fields: &[Self]) -> Self {
        Self::bytes(number, write(fields))
    }
}

/// Reads a message's fields; `None` when the bytes are no message.
pub(super) fn read(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = read_varint(&mut bytes)?;
        let value = match key & 7 {
            0 => Value::Varint(read_varint(&mut bytes)?),
            1 => Value::Fixed64(take(&mut bytes, 8)?.try_into().ok()?),
            2 => {
                let length = usize::try_from(read_varint(&mut bytes)?).ok()?;
                Value::Bytes(take(&mut bytes, length)?.to_vec())
            }
            5 => Value::Fixed32(take(&mut bytes, 4)?.try_into().ok()?),
            _ => return None,
        };
        fields.push(Field { number: key >> 3, value });
    }
    Some(fields)
}

/// Writes fields in the given order.
pub(super) fn write(fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in fields {
        let wire_type = match field.value {
            Value::Varint(_) => 0,
            Value::Fixed64(_) => 1,
            Value::Bytes(_) => 2,
            Value::Fixed32(_) => 5,
        };
        write_varint(&mut bytes, field.number << 3 | wire_type);
        match &field.value {
            Value::Varint(value) => write_varint(&mut bytes, *value),
            Value::Fixed64(value) => bytes.extend(value),
            Value::Bytes(value) => {
                write_varint(&mut bytes, value.len() as u64);
                bytes.extend(value);
            }
            Value::Fixed32(value) => bytes.extend(value),
        }
    }
    bytes
}

/// The message within the first field of this number.
pub(super) fn message_at(fields: &[Field], number: u64) -> Option<Vec<Field>> {
    read(bytes_at(fields, number)?)
}

/// The bytes of the first field of this number.
pub(super) fn bytes_at(fields: &[Field], number: u64) -> Option<&[u8]> {
    fields.iter().find(|field| field.number == number).and_then(|field| match &field.value {
        Value::Bytes(bytes) => Some(bytes.as_slice()),
        Value::Varint(_) | Value::Fixed64(_) | Value::Fixed32(_) => None,
    })
}

/// The number in the first field of this number.
pub(super) fn varint_at(fields: &[Field], number: u64) -> Option<u64> {
    fields.iter().find(|field| field.number == number).and_then(|field| match field.value {
        Value::Varint(value) => Some(value),
        Value::Fixed64(_) | Value::Bytes(_) | Value::Fixed32(_) => None,
    })
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *take(bytes, 1)?.first()?;
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit.
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn varints_of_each_length_come_back() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let field = [Field::varint(16, value)];
            assert_eq!(read(&write(&field)), Some(field.to_vec()));
        }
    }

    #[test]
    fn broken_messages_are_none() {
        for bytes in [
            &[0x08][..],
            &[0x0a, 5, 1],
            &[0x0b],
            &[0xff; 11],
            &[0x09, 1, 2],
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        ] {
            assert_eq!(read(bytes), None, "{bytes:x?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Some(fields) = read(&bytes) {
                prop_assert_eq!(read(&write(&fields)), Some(fields));
            }
        }
    }
}
