export type ManyAct = 'stop' | 'retry' | 'approve' | 'deny';

interface Words {
  title: string;
  verb: string;
  /** One of what it acts on, and several. */
  things: readonly [one: string, many: string];
  nothing: string;
  /** What a person should know before. */
  caution?: string;
}

const GONE = 'There is nothing to do: the runs have other statuses by now.';
const ANSWERED = 'There is nothing to do: the questions are answered by now.';

/** What an act on many is called before it begins. */
export const MANY_WORDS: Record<ManyAct, Words> = {
  stop: { title: 'Stop these runs?', verb: 'Stop', things: ['run', 'runs'], nothing: GONE },
  retry: {
    title: 'Repeat the turns of these runs?',
    verb: 'Repeat',
    things: ['run', 'runs'],
    nothing: GONE,
    caution: 'Their tools may run again, with what they do outside.',
  },
  approve: {
    title: 'Approve these calls?',
    verb: 'Approve',
    things: ['call', 'calls'],
    nothing: ANSWERED,
    caution: 'Each is carried out as it was asked, without changes.',
  },
  deny: {
    title: 'Deny these calls?',
    verb: 'Deny',
    things: ['call', 'calls'],
    nothing: ANSWERED,
    caution: 'The agents read the reason.',
  },
};

/** Codes of refusals as people read them. */
const PROBLEM_WORDS: Record<string, string> = {
  not_allowed: 'not yours to decide',
  unavailable: 'the server did not answer',
};

/** Pure. */
export function describeProblemCode(code: string): string {
  return PROBLEM_WORDS[code] ?? code.replaceAll('_', ' ');
}

/** Pure. */
export function describePlan(act: ManyAct, total: number): string {
  const { things, nothing } = MANY_WORDS[act];
  return total === 0 ? nothing : `This is about ${String(total)} ${things[total === 1 ? 0 : 1]}.`;
}
