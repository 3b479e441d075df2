import {
  type Actor,
  type Environment,
  type Workflow,
  actorText,
  workflowText,
} from '../environment.js';

/** Environments by number: two with the same number have the same future. */
export interface Environments {
  number: (env: Environment) => number;
  /** The first one that got the number. */
  at: (number: number) => Environment;
}

/** A part of an environment takes one character. */
const MOST_PARTS = 1 << 16;

export function createEnvironments(): Environments {
  const parts = createTexts();
  const texts = createTexts();
  const environments: Environment[] = [];
  const numbers = new WeakMap<Environment, number>();
  /** Workflows and actors are never changed, and are part of many environments. */
  const known = new WeakMap<Workflow | Actor, number>();

  function codeOf(text: string): number {
    const code = parts.number(text);
    if (code >= MOST_PARTS) throw new Error('environments have too many different parts');
    return code;
  }

  function workflowCode(workflow: Workflow): number {
    let code = known.get(workflow);
    if (code === undefined) known.set(workflow, (code = codeOf(workflowText(workflow))));
    return code;
  }

  function actorCode(actor: Actor): number {
    let code = known.get(actor);
    if (code === undefined) known.set(actor, (code = codeOf(actorText(actor))));
    return code;
  }

  function textOf({ clock, left, workflows, actors, marks }: Environment): string {
    const codes = [clock, left.faults, left.leases, left.stops, left.messages, left.jumps];
    codes.push(codeOf(marks.join()), workflows.length);
    for (const workflow of workflows) codes.push(workflowCode(workflow));
    // In whatever order the actors came.
    codes.push(...actors.map(actorCode).sort((one, other) => one - other));
    return String.fromCharCode(...codes);
  }

  return {
    number: (env) => {
      const known = numbers.get(env);
      if (known !== undefined) return known;
      const number = texts.number(textOf(env));
      if (number === environments.length) {
        environments.push(env);
        numbers.set(env, number);
      }
      return number;
    },
    at: (number) => {
      const env = environments[number];
      if (env === undefined) throw new Error(`there is no environment ${String(number)}`);
      return env;
    },
  };
}

/** Texts by number, each once. */
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
