//! The tokenizer of the demo model.

use std::path::Path;

use checkpoint::Checkpoint;
use text::{Message, Specials, Text};

fn demo() -> Text {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo");
    let checkpoint = Checkpoint::open(&path).expect("the demo model is part of the repository");
    let text = Text::open(&checkpoint).expect("it has a tokenizer");
    assert_eq!(text::end_tokens(&checkpoint, Some(&text)).expect("they are numbers"), [0, 4]);
    text
}

#[test]
fn encodes_a_question() {
    let text = demo();
    let tokenizer = text.tokenizer();
    assert_eq!(tokenizer.vocab_size(), 8192);
    let ids = text.encode_chat(&[Message::user(" What is a dog? ")]).expect("the template takes it");
    let same =
        text.encode("<|user|>What is a dog?<|end|><|assistant|>", Specials::Parse).expect("it is text");
    assert_eq!(ids, same);
    assert_eq!((ids[0], &ids[ids.len() - 2..]), (2, &[4, 3][..]));
    assert_eq!(tokenizer.decode(&ids), "What is a dog?");
}
