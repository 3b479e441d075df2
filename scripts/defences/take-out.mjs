/** A text with a defence taken out; or the part of it that does not stand there exactly once. */
export function takeOut(text, { edits }) {
  for (const [search, replace] of edits) {
    if (text.split(search).length !== 2) return { missing: search };
    text = text.replace(search, () => replace);
  }
  return { text };
}
