import type { Page } from '../client/page.js';
import type { History } from '../client/runs.js';
import { sleep } from '../clock.js';
import type { Child } from '../processes/child.js';
import type { Servers } from '../processes/product.js';
import { cpuSeconds } from '../processes/usage.js';

/** The work that every contender gets: steps of words and a tool call each. */
export interface Turn {
  steps: number;
  words: number;
  everyMs: number;
  /** True makes each word its own time; otherwise words are `s<step>w<number>`. */
  stamp: boolean;
}

/** A turn begun by a reader. */
export interface BegunTurn {
  /** Resolves at the end of the response, rejects if it was cut. */
  response: Promise<void>;
  /** Reads the rest after the response was cut or ended early. */
  attach: (page: Page, signal: AbortSignal) => Promise<void>;
}

/** CPU seconds by process. */
export type CpuSeconds = Record<string, number>;

/** A contender with running processes. */
export interface Running {
  begin: (turn: Turn, page: Page, signal: AbortSignal) => BegunTurn;
  /** CPU of its own processes; the engines are counted separately. */
  cpuSeconds: () => CpuSeconds;
  /** Kills the process that makes the replies, and restarts it a second later. */
  crash: () => Promise<void>;
  /** Reads the history of the newest turn, once that has ended. */
  history?: () => Promise<History>;
  stop: () => Promise<void>;
}

/** A system that streams replies, set up as its documentation says. */
export interface Contender {
  name: string;
  start: (servers: Servers, peersFolder: string) => Promise<Running>;
  /** Reason why it cannot run a turn of steps. */
  withoutSteps?: string;
  /** Remark for readers of the table. */
  note?: string;
}

const RESTART_MS = 1_000;

/** A process that can be killed and restarted. */
export function createRestartable(start: () => Child) {
  let child = start();
  let spent = 0;
  const spentNow = (): number => spent + (cpuSeconds(child.pid) || 0);
  return {
    /** CPU seconds of it and its predecessors. */
    cpuSeconds: spentNow,
    crash: async (): Promise<void> => {
      spent = spentNow();
      child.kill9();
      await child.exited;
      await sleep(RESTART_MS);
      child = start();
    },
    stop: () => child.stop(),
  };
}
