// What a person would count in a reply of numbered words, w1 w2 w3 …: the word at place n must be n.

/** The numbers of a text whose last word may still be written: `w12` arrives as `w1` first. */
export function readNumbers(text) {
  const numbers = Array.from(text.matchAll(/w(\d+)/g), ([, number]) => Number(number));
  const last = numbers.at(-1);
  const due = (numbers.at(-2) ?? 0) + 1;
  const isCutOff = last !== due && String(due).startsWith(String(last));
  return isCutOff ? numbers.slice(0, -1) : numbers;
}

/**
 * Lost: numbers that were passed over. Doubled: words at whose place that number, or a later one, was there
 * already.
 */
export function judge(numbers) {
  let highest = 0;
  let lost = 0;
  let doubled = 0;
  for (const number of numbers) {
    if (number <= highest) doubled += 1;
    else {
      lost += number - highest - 1;
      highest = number;
    }
  }
  return { words: highest - lost, lost, doubled };
}

/**
 * The longest time without a word beyond those that were shown before, until enough of them have come. Words
 * that are shown again, after a rebuilt page or a withdrawn attempt, do not count.
 *
 * @param seen  highest number that was shown when it began
 * @param until number that is enough
 */
export function createSilence({ seen, until, now }) {
  let last = now;
  let longest = 0;
  return {
    /** Returns the longest silence once it is known. */
    see(highest, at) {
      if (highest <= seen) return undefined;
      longest = Math.max(longest, at - last);
      last = at;
      seen = highest;
      return highest >= until ? longest : undefined;
    },
  };
}
