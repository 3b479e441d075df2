/** Between the words of a phrase: spaces, or a line break and the mark that begins a comment line. */
const GAP = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:(?://+|\*|#|>)[ \t]*)?)`;

/**
 * Banned words and phrases of a text, as whole words in any case: `[{ line, word }]`, lines from 1.
 * Part of a longer name is not a word, a variable with a banned name is one. `allowed` has patterns
 * of places that pass: replies of test models, recorded texts, names of stored fields.
 */
export function findBanned(text, { banned, allowed = [] }) {
  const phrases = banned.map((phrase) => phrase.split(' ').map(toPattern).join(GAP));
  const pattern = new RegExp(String.raw`(?<![\w$])(?:${phrases.join('|')})(?![\w$])`, 'gi');
  const judged = allowed.reduce(
    (rest, place) => rest.replace(new RegExp(place, 'g'), (found) => ' '.repeat(found.length)),
    text,
  );
  return [...judged.matchAll(pattern)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    word: match[0].replace(/\s+(?:(?:\/\/+|\*|#|>)\s*)?/g, ' '),
  }));
}

/** A word in a pattern; either apostrophe fits. */
function toPattern(word) {
  return word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll("'", "['’]");
}
