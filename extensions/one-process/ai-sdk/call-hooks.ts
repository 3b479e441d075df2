import type { StepResult, ToolSet } from 'ai';
import { orAborted } from '../../../activities/attempt.js';
import type { OnStepFinish } from '../../../agents/step-hooks.js';
import type { CallEnd } from './generated.js';

/** What a program hears of one call; the older name counts where the newer one is not given. */
export interface CallCallbacks<TOOLS extends ToolSet> {
  /** Called when a step of the call is stored, after the agent's own. */
  onStepEnd?: ((step: StepResult<TOOLS>) => unknown) | undefined;
  onStepFinish?: ((step: StepResult<TOOLS>) => unknown) | undefined;
  /** Called when the call is over, before it resolves; not when its run has failed or was stopped. */
  onEnd?: ((result: CallEnd<TOOLS>) => unknown) | undefined;
  onFinish?: ((result: CallEnd<TOOLS>) => unknown) | undefined;
}

/** The callbacks of one call. */
export interface CallHooks {
  /** @param lastStep the newest step of the call, whose callbacks come first */
  end: (result: unknown, lastStep: number | undefined) => Promise<void>;
  close: () => void;
}

interface OpenCalls {
  /** The agent's hook for steps, which also calls those of the calls. */
  beside: (own: OnStepFinish | undefined) => OnStepFinish;
  open: <TOOLS extends ToolSet>(sessionId: string, callbacks: CallCallbacks<TOOLS>) => CallHooks;
}

/** Of a run that another process carries out no step is heard. */
const STEPS_HEARD_MS = 10_000;

interface OpenCall {
  hook: (step: never) => unknown;
  /** The callbacks of this step were called. */
  heard: (step: number) => void;
}

/** The callbacks of calls that are under way, by conversation: this process carries out their runs. */
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
          // A step is stored, and its run may be over, before its callbacks are called.
          const isHeard = new Promise<void>((resolve) => {
            wake = () => {
              if (newest >= lastStep) resolve();
            };
            wake();
          });
          const tooLong = AbortSignal.timeout(STEPS_HEARD_MS);
          await orAborted(isHeard, tooLong).catch(() => undefined);
          // As in the AI SDK, what a callback throws changes nothing.
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
