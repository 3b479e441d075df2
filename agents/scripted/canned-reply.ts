import { cutWords } from './cut-text.js';
import { createReply, type Reply } from './reply.js';

/** Code points of the user's text that are quoted. */
const QUOTED = 200;
/** Slow enough to be seen arriving, in ms a word. */
const WORD_MS = 10;

/** What the scripted model says to a text that is no script. */
export function createCannedReply(userText: string): Reply {
  const words = userText.replace(/\s+/g, ' ').trim();
  const points = Array.from(words);
  const quoted = points.length > QUOTED ? `${points.slice(0, QUOTED).join('')}…` : words;
  const text =
    quoted === ''
      ? 'You said nothing that I could quote.'
      : `You said: “${quoted}”. I follow scripts; send me one as JSON and I will perform it.`;
  return createReply({ pieces: cutWords(text), everyMs: WORD_MS });
}
