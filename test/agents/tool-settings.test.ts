import { jsonSchema } from 'ai';
import { z } from 'zod';
import * as z3 from 'zod/v3';
import { defineTool } from '../../agents/index.js';
import { refusalOf, tool, weather } from './settings.js';

const client = { execute: 'client', deadlineMs: 5 };
const tooDeep: unknown = JSON.parse('['.repeat(501) + ']'.repeat(501));
const TOOL_FIELDS =
  'name, title, description, inputSchema, outputSchema, execute, send, requireApproval, approvers, separateApprover, idempotent, verify, retry, finishWith, deadlineMs, onExpiry, timeoutMs, activity';

describe('defineTool', () => {
  it.each<[object, string]>([
    [{ name: 'a b' }, 'name must be 1 to 64 letters, digits, "_" or "-", not "a b"'],
    [{ name: '' }, 'name must be 1 to 64 letters, digits, "_" or "-", not ""'],
    [{ name: '__finish__' }, 'name is reserved for the result of the agent'],
    [{ description: ' ' }, 'description must be a text for the model that is not empty, not " "'],
    [
      { inputSchema: jsonSchema({ type: 'object' }) },
      'inputSchema is not a zod 4 schema but a jsonSchema() of the AI SDK; write z.object({ … }), or pass its JSON Schema to z.fromJSONSchema({ … })',
    ],
    [
      { inputSchema: z3.object({}) },
      'inputSchema is not a zod 4 schema but a zod 3 schema; install zod 4, or import z from "zod/v4"',
    ],
    [
      { outputSchema: { type: 'object', properties: {} } },
      'outputSchema is not a zod 4 schema but a JSON Schema; write z.fromJSONSchema({ … })',
    ],
    [
      { inputSchema: { '~standard': { version: 1, vendor: 'valibot' } } },
      'inputSchema is not a zod 4 schema but a schema of valibot; write z.object({ … })',
    ],
    [{ inputSchema: {} }, 'inputSchema is not a zod 4 schema; write z.object({ … })'],
    [
      { inputSchema: undefined },
      'inputSchema is missing; it must be a zod 4 schema: z.object({ … })',
    ],
    [{ inputSchema: z.string() }, 'inputSchema must describe an object: z.object({ … })'],
    [
      { inputSchema: z.object({ at: z.date() }) },
      'inputSchema has no JSON Schema, which the model needs: Date cannot be represented in JSON Schema',
    ],
    [{ execute: 'server' }, `execute must be a function, 'client' or 'webhook', not "server"`],
    [{ execute: undefined }, `execute is missing; it must be a function, 'client' or 'webhook'`],
    [
      { parameters: {} },
      `it has no field "parameters" (use inputSchema); its fields are ${TOOL_FIELDS}`,
    ],
    [{ label: 'x' }, `it has no field "label"; its fields are ${TOOL_FIELDS}`],
    [{ requireApproval: false }, 'requireApproval must be true or a function, not false'],
    [{ idempotent: 'yes' }, 'idempotent must be true or false, not "yes"'],
    [{ timeoutMs: 0 }, 'timeoutMs must be a whole number of milliseconds above 0, not 0'],
    [
      { ...client, deadlineMs: 1.5 },
      'deadlineMs must be a whole number of milliseconds above 0, not 1.5',
    ],
    [
      { deadlineMs: 5 },
      `deadlineMs needs requireApproval, execute: 'client' or 'webhook'; use timeoutMs for execute`,
    ],
    ...['requireApproval', 'finishWith'].map((field): [object, string] => [
      { ...client, [field]: true },
      `${field} works on the server only; remove it, or replace execute: 'client'`,
    ]),
    [
      { activity: { taskQueue: '' } },
      'activity.taskQueue must be the name of a task queue, not ""',
    ],
    [
      { activity: { startToCloseTimeout: '5m' } },
      'activity.startToCloseTimeout must be a whole number of milliseconds above 0, not "5m"',
    ],
    [
      { activity: { retry: { maximumAttempts: 0 } } },
      'activity.retry.maximumAttempts must be a whole number from 1 to 1,000, not 0',
    ],
    [
      { activity: { timeoutMs: 5 } },
      'activity has no field "timeoutMs" (use startToCloseTimeout); its fields are taskQueue, startToCloseTimeout, scheduleToStartTimeout, scheduleToCloseTimeout, retry',
    ],
    [
      { ...client, activity: {} },
      `activity works on the server only; remove it, or replace execute: 'client'`,
    ],
    [
      { ...client, timeoutMs: 5 },
      `timeoutMs works on the server only; remove it, or replace execute: 'client'`,
    ],
    [
      { ...client, idempotent: true, retry: { attempts: 2 } },
      `retry works on the server only; remove it, or replace execute: 'client'`,
    ],
    [
      { retry: { attempts: 2 } },
      'retry executes a call again, so the tool must also set idempotent: true',
    ],
    [{ retry: 3 }, 'retry must be an object, not 3'],
    [{ retry: {} }, 'retry.attempts is missing; it must be a whole number from 2 to 100'],
    [
      { idempotent: true, retry: { attempts: 1, coefficient: 0.5, initialIntervalMs: -1 } },
      'retry.attempts must be a whole number from 2 to 100, not 1; retry.initialIntervalMs must be a whole number of milliseconds above 0, not -1; retry.coefficient must be a number of at least 1, not 0.5',
    ],
    [
      { idempotent: true, retry: { attempts: 2, delay: 1 } },
      'retry has no field "delay"; its fields are attempts, initialIntervalMs, maximumIntervalMs, coefficient',
    ],
    [{ finishWith: false }, 'finishWith must be true or a function, not false'],
    [{ onExpiry: 'deny' }, 'onExpiry needs a deadlineMs'],
    [{ ...client, onExpiry: 'deny' }, 'onExpiry of a client tool must be { result }'],
    [
      { requireApproval: true, deadlineMs: 1, onExpiry: { result: 1 } },
      `onExpiry of an approval must be 'deny' or 'approve'`,
    ],
    [
      { ...client, onExpiry: { result: 1 }, outputSchema: z.string() },
      'onExpiry has a result that does not fit outputSchema',
    ],
  ])('defineTool refuses %j and explains: %s', (change, fault) => {
    const config = { ...tool, ...change };
    expect(refusalOf(() => defineTool(config))).toBe(`Tool "${config.name}": ${fault}`);
  });

  it.each([1n, tooDeep])(
    'defineTool refuses a result on expiry that cannot be stored',
    (result) => {
      const config = { ...tool, ...client, onExpiry: { result } } as unknown as typeof tool;
      expect(refusalOf(() => defineTool(config))).toContain(
        'onExpiry has a result that cannot be stored: ',
      );
    },
  );

  it('defineTool refuses a tool without a name', () => {
    expect(refusalOf(() => defineTool(weather as unknown as typeof tool))).toContain(
      'Tool without a name: name is missing; it must be 1 to 64 letters',
    );
  });

  it.each<[string, object]>([
    ['a client tool with a deadline', client],
    [
      'an approval with a deadline and a time-out',
      { requireApproval: true, deadlineMs: 1, timeoutMs: 1 },
    ],
    [
      'an approval that expires as approved',
      { requireApproval: true, deadlineMs: 1, onExpiry: 'approve' },
    ],
    [
      'a client tool that expires with a result',
      { ...client, onExpiry: { result: 'x' }, outputSchema: z.string() },
    ],
    ['a tool that is retried', { idempotent: true, retry: { attempts: 5, coefficient: 1 } }],
    ['a tool that ends the run', { finishWith: (output: unknown) => ({ output }) }],
    ['a schema that transforms', { inputSchema: z.object({ a: z.string().transform(Number) }) }],
    ['a schema made from JSON Schema', { inputSchema: z.fromJSONSchema({ type: 'object' }) }],
    ['fields that are undefined', { outputSchema: undefined, retry: undefined }],
  ])('defineTool accepts %s', (_, change) => {
    expect(refusalOf(() => defineTool({ ...tool, ...change }))).toBe('accepted');
  });
});
