import * as guards from '../../protocol/chunk-guards.js';
import * as core from '../../index.js';
import * as runtime from '../../worker/index.js';
import { BusyPolicy } from '../../protocol/replies.js';
import { UPDATES } from '../../protocol/temporal.js';

describe('what a program imports', () => {
  it('the package exports all guards of chunks', () => {
    for (const name of Object.keys(guards)) expect(core).toHaveProperty(name);
  });

  it.each([
    'defineAgent defineTool createSubAgentTool AgentRegistry',
    'AgentNotFoundError DefinitionError',
    'StreamChunkSchema StreamMessageSchema isStreamEnd createStreamEndSentinel',
    'filterByAgentId filterByAgentType filterByType excludeTypes filterWith combineStreams',
    'take skip collectText collectAll formatWireEvent parseStreamEvent',
    'AgentAlreadyRunningError HelixError StaleStateError StreamTruncatedError',
    'COMMON_METADATA_KEYS findExpiredPending isStalled isTerminal FINISH_TOOL_NAME LIMITS BusyPolicy',
  ])('the package exports %s', (names) => {
    for (const name of names.split(' ')) expect(core).toHaveProperty(name);
  });

  it("the package exports the operators' signals and the busy policies", () => {
    expect(runtime.UPDATES).toBe(UPDATES);
    expect(BusyPolicy.options).toEqual(['reject', 'queue', 'steer', 'interrupt']);
    expect(runtime.workflowIdOf('s:1-a')).toBe('run:s:1-a');
  });
});
