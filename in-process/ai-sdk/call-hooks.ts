import type { StepResult, ToolSet } from 'ai';
import type { OnStepFinish } from '../../agents/step-hooks.js';
import type { Generated } from './generated.js';

/** What a program hears of one call; the older name counts where the newer one is not given. */
export interface CallCallbacks<TOOLS extends ToolSet> {
  /** Called when a step of the call is stored, after the agent's own. */
  onStepEnd?: ((step: StepResult<TOOLS>) => unknown) | undefined;
  onStepFinish?: ((step: StepResult<TOOLS>) => unknown) | undefined;
  /** Called when the call is over, before it resolves; not when its run has failed or was stopped. */
  onEnd?: ((result: Generated<TOOLS>) => unknown) | undefined;
  onFinish?: ((result: Generated<TOOLS>) => unknown) | undefined;
}

/** The callbacks of one call. */
export interface CallHooks {
  end: (result: unknown) => Promise<void>;
  close: () => void;
}

interface OpenCalls {
  /** The agent's hook for steps, which also calls those of the calls. */
  beside: (own: OnStepFinish | undefined) => OnStepFinish;
  open: <TOOLS extends ToolSet>(sessionId: string, callbacks: CallCallbacks<TOOLS>) => CallHooks;
}

/** The callbacks of calls that are under way, by conversation: this process carries out their runs. */
export function createCallHooks(): OpenCalls {
  const open = new Map<string, Set<(step: never) => unknown>>();

  return {
    beside:
      (own: OnStepFinish | undefined): OnStepFinish =>
      async (step) => {
        const hooks = [...(own ? [own] : []), ...(open.get(step.sessionId) ?? [])];
        const ended = await Promise.allSettled(hooks.map(async (hook) => hook(step as never)));
        for (const one of ended) if (one.status === 'rejected') throw one.reason;
      },
    open: (sessionId, { onStepFinish, onStepEnd = onStepFinish, onFinish, onEnd = onFinish }) => {
      const ofSession = open.get(sessionId) ?? new Set();
      open.set(sessionId, ofSession);
      const hook = (step: never): unknown => onStepEnd?.(step);
      ofSession.add(hook);
      return {
        end: async (result) => {
          // As in the AI SDK, what a callback throws changes nothing.
          await Promise.resolve()
            .then(() => onEnd?.(result as never))
            .catch(() => undefined);
        },
        close: () => {
          ofSession.delete(hook);
          if (ofSession.size === 0 && open.get(sessionId) === ofSession) open.delete(sessionId);
        },
      };
    },
  };
}
