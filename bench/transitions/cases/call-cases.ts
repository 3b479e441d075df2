import { answer, beginSubAgent, settleTool, startCall } from '../call-moves.js';
import { callId, DAY_MS, refOf, subAgentOf } from '../inputs.js';
import { must } from '../moves.js';
import type { Case } from './case.js';

const extend: Case['act'] = async (driver, scene) => {
  const { deadline = 0 } = scene;
  const call = { ...refOf(scene), toolCallId: callId(scene, 1), deadline };
  must(await driver.extendDeadline({ ...call, byMs: DAY_MS }), 'extended');
};

const lease: Case['act'] = async (driver, scene) => {
  const call = { ...refOf(scene), toolCallId: callId(scene, 1) };
  must(await driver.leaseCall({ ...call, holder: 'a page', forMs: 60_000 }), 'leased');
};

const takeId: Case['act'] = async (driver, scene) => {
  const { sessionId, runId } = subAgentOf(scene);
  const input = { sessionId, runId, call: '1 0', wanted: 'call_1' };
  must(await driver.takeCallId(input), 'taken');
};

export const callCases: Case[] = [
  { name: 'start call', from: 'called', act: (driver, scene) => startCall(driver, scene, 1) },
  { name: 'settle, tool', from: 'started', act: (driver, scene) => settleTool(driver, scene, 1) },
  {
    name: 'settle, approval: resumes',
    from: 'approval',
    act: (driver, scene) => answer(driver, scene, 'approval'),
  },
  {
    name: 'settle, client: resumes',
    from: 'client',
    act: (driver, scene) => answer(driver, scene, 'client'),
  },
  {
    name: 'extend deadline',
    from: 'approval',
    act: extend,
  },
  {
    name: 'lease call',
    from: 'client',
    act: lease,
  },
  { name: 'begin sub-agent', from: 'delegated', act: beginSubAgent },
  {
    name: 'take call id, sub-agent',
    from: 'delegating',
    act: takeId,
  },
];
