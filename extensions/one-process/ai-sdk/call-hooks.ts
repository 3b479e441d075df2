import type { StepResult, ToolSet } from 'ai';
import { orAborted } from '../../../activities/attempt.js';
import type { OnStepFinish } from '../../../agents/step-hooks.js';
import type { CallEnd } from './generated.js';

/** Callbacks of one call. An older name is used if the newer one is absent. */
export interface CallCallbacks<TOOLS extends ToolSet> {
  /** Called after each stored step of the call, after the agent's own callback. */
  onStepEnd?: ((step: StepResult<TOOLS>) => unknown) | undefined;
  onStepFinish?: ((step: StepResult<TOOLS>) => unknown) | undefined;
  /** Called before the call resolves, but not if its run failed or was stopped. */
  onEnd?: ((result: CallEnd<TOOLS>) => unknown) | undefined;
  onFinish?: ((result: CallEnd<TOOLS>) => unknown) | undefined;
}

/** The callbacks of one call. */
export interface CallHooks {
  /** @param lastStep newest step of the call; its callbacks run first */
  end: (result: unknown, lastStep: number | undefined) => Promise<void>;
  close: () => void;
}

interface OpenCalls {
  /** Wraps the agent's hook for steps so that it also calls the calls' callbacks. */
  beside: (own: OnStepFinish | undefined) => OnStepFinish;
  open: <TOOLS extends ToolSet>(sessionId: string, callbacks: CallCallbacks<TOOLS>) => CallHooks;
}

/** Limit of the wait for a step's callbacks: if another process carries out the run, none are called here. */
const STEPS_HEARD_MS = 10_000;

interface OpenCall {
  hook: (step: never) => unknown;
  /** Called after this step's callbacks. */
  heard: (step: number) => void;
}

/** Keeps the callbacks of open calls by conversation. This process carries out their runs. */
export function createCallHooks(): OpenCalls {
  const open = new Map<string, Set<OpenCall>>();

  return {
    beside:
      (own: OnStepFinish | undefined): OnStepFinish =>
      async (step) => {
        const calls = [...(open.get(step.sessionId) ?? [])];
        const hooks = [...(own ? [own] : []), ...calls.map(({ hook }) => hook)];
        const ended = await Promise.allSettled(hooks.map(async (hook) => hook(step as never)));
        for (const { heard } of calls) heard(step.step);
        for (const one of ended) if (one.status === 'rejected') throw one.reason;
      },
    open: (sessionId, { onStepFinish, onStepEnd = onStepFinish, onFinish, onEnd = onFinish }) => {
      const ofSession = open.get(sessionId) ?? new Set();
      open.set(sessionId, ofSession);
      let newest = 0;
      let wake = (): void => undefined;
      const call: OpenCall = {
        hook: (step) => onStepEnd?.(step),
        heard: (step) => {
          newest = Math.max(newest, step);
          wake();
        },
      };
      ofSession.add(call);
      return {
        end: async (result, lastStep = 0) => {
          // A step's callbacks run after it is stored, when its run may already have ended.
          const isHeard = new Promise<void>((resolve) => {
            wake = () => {
              if (newest >= lastStep) resolve();
            };
            wake();
          });
          const tooLong = AbortSignal.timeout(STEPS_HEARD_MS);
          await orAborted(isHeard, tooLong).catch(() => undefined);
          // As in the AI SDK, errors of callbacks are ignored.
          await Promise.resolve()
            .then(() => onEnd?.(result as never))
            .catch(() => undefined);
        },
        close: () => {
          ofSession.delete(call);
          if (ofSession.size === 0 && open.get(sessionId) === ofSession) open.delete(sessionId);
        },
      };
    },
  };
}
