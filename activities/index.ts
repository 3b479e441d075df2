import type { AnswerActivities, RunActivities } from '../protocol/activities.js';
import { createAnswers } from './answers.js';
import type { ActivityDeps } from './deps.js';
import { createModelStep } from './model/model-step.js';
import { createRunEnd } from './run-end.js';
import { createToolCall } from './tool-call.js';

export type { ActivityDeps, ActivityLogger } from './deps.js';

/** The activities of the agent run, over the given stores and agents. */
export function createActivities(deps: ActivityDeps): RunActivities & AnswerActivities {
  return {
    modelStep: createModelStep(deps),
    toolCall: createToolCall(deps),
    ...createRunEnd(deps),
    ...createAnswers(deps),
  };
}
