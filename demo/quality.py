"""How many questions of questions.jsonl a model answers word for word, greedily.

    python demo/quality.py target/release/coli MODEL [MODEL …]

Prints one line a model: exact answers by kind of question. Needs Python 3.10+ and nothing else.
"""
import collections, json, pathlib, subprocess, sys

QUESTIONS = [json.loads(line) for line in open(pathlib.Path(__file__).with_name("questions.jsonl"))]


def answer(coli, model, question):
    command = [coli, "run", "--model", model, "--json", "--temperature", "0", "--max-tokens", "56", question]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["text"].strip()


def main():
    coli, *models = sys.argv[1:]
    for model in models:
        right, asked = collections.Counter(), collections.Counter()
        for row in QUESTIONS:
            asked[row["kind"]] += 1
            right[row["kind"]] += answer(coli, model, row["question"]) == row["answer"]
        kinds = ", ".join(f"{kind} {right[kind]}/{asked[kind]}" for kind in asked)
        print(f"{model}: {sum(right.values())}/{sum(asked.values())} exact ({kinds})", flush=True)


if __name__ == "__main__":
    main()
