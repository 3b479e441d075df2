import { actorText, workflowText, type Environment } from '../environment.js';

/** A numbered environment. Environments with the same number have the same future. */
export interface Numbered {
  number: number;
  /** The first environment with this number. */
  env: Environment;
}

/** Limit on distinct parts, since each is encoded as one character. */
const MAX_PARTS = 1 << 16;

export function createEnvironments(): (env: Environment) => Numbered {
  const parts = createTexts();
  const texts = createTexts();
  const numbered: Numbered[] = [];
  const known = new WeakMap<Environment, Numbered>();

  function codeOf(text: string): number {
    const code = parts.number(text);
    if (code >= MAX_PARTS) throw new Error('environments have too many different parts');
    return code;
  }

  function textOf({ clock, left, workflows, actors, marks }: Environment): string {
    const codes = [clock, left.faults, left.leases, left.stops, left.messages, left.jumps];
    codes.push(codeOf(marks.join()), workflows.length);
    for (const workflow of workflows) codes.push(codeOf(workflowText(workflow)));
    // The order of the actors does not count.
    codes.push(
      ...actors.map((actor) => codeOf(actorText(actor))).sort((one, other) => one - other),
    );
    return String.fromCharCode(...codes);
  }

  return (env) => {
    let found = known.get(env);
    if (found !== undefined) return found;
    const number = texts.number(textOf(env));
    found = numbered[number] ?? { number, env };
    if (number === numbered.length) {
      numbered.push(found);
      known.set(env, found);
    }
    return found;
  };
}

/** Numbers distinct texts. */
export interface Texts {
  number: (text: string) => number;
  text: (number: number) => string;
}

export function createTexts(): Texts {
  const numbers = new Map<string, number>();
  const texts: string[] = [];
  return {
    number: (text) => {
      let number = numbers.get(text);
      if (number === undefined) {
        number = texts.push(text) - 1;
        numbers.set(text, number);
      }
      return number;
    },
    text: (number) => texts[number] ?? '',
  };
}
