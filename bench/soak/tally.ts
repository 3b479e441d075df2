/**
 * Compares the words found with the words sent; all words of a turn are different.
 *
 * @param isCut true if the turn was stopped, so that its last words may be missing, and one may be
 * incomplete
 */
export function tally(
  sent: readonly string[],
  found: readonly string[],
  isCut: boolean,
): { lost: number; doubled: number } {
  const places = new Map(sent.map((word, at) => [word, at]));
  const seen = new Set<string>();
  let doubled = 0;
  let last = -1;
  for (const [at, word] of found.entries()) {
    const place = places.get(word);
    const isLast = at === found.length - 1;
    if (isCut && isLast && sent[last + 1]?.startsWith(word) === true) break;
    if (place === undefined || seen.has(word) || place < last) doubled += 1;
    seen.add(word);
    last = Math.max(last, place ?? -1);
  }
  const due = isCut ? sent.slice(0, last + 1) : sent;
  return { lost: due.filter((word) => !seen.has(word)).length, doubled };
}

export function toWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
