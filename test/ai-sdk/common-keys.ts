/** What ai 6.0.0 accepts, key by key; `?` marks keys that may be missing. Newer clients take more. */
const KEYS: Record<string, string[]> = {
  start: ['messageId?', 'messageMetadata?'],
  finish: ['finishReason?', 'messageMetadata?'],
  'start-step': [],
  'finish-step': [],
  error: ['errorText'],
  'message-metadata': ['messageMetadata'],
  'text-start': ['id', 'providerMetadata?'],
  'text-delta': ['id', 'delta', 'providerMetadata?'],
  'text-end': ['id', 'providerMetadata?'],
  'reasoning-start': ['id', 'providerMetadata?'],
  'reasoning-delta': ['id', 'delta', 'providerMetadata?'],
  'reasoning-end': ['id', 'providerMetadata?'],
  'tool-input-start': ['toolCallId', 'toolName', 'providerExecuted?', 'dynamic?', 'title?'],
  'tool-input-delta': ['toolCallId', 'inputTextDelta'],
  'tool-input-available': [
    'toolCallId',
    'toolName',
    'input',
    'providerExecuted?',
    'providerMetadata?',
    'dynamic?',
    'title?',
  ],
  'tool-input-error': [
    'toolCallId',
    'toolName',
    'input',
    'errorText',
    'providerExecuted?',
    'providerMetadata?',
    'dynamic?',
    'title?',
  ],
  'tool-approval-request': ['approvalId', 'toolCallId'],
  'tool-output-available': [
    'toolCallId',
    'output',
    'providerExecuted?',
    'dynamic?',
    'preliminary?',
  ],
  'tool-output-error': ['toolCallId', 'errorText', 'providerExecuted?', 'dynamic?'],
  'tool-output-denied': ['toolCallId'],
  'source-url': ['sourceId', 'url', 'title?', 'providerMetadata?'],
  'source-document': ['sourceId', 'mediaType', 'title', 'filename?', 'providerMetadata?'],
  file: ['url', 'mediaType', 'providerMetadata?'],
};
const DATA_KEYS = ['data', 'id?', 'transient?'];
const FINISH_REASONS = ['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'];

/** Fails unless every 6.x and 7.x client takes the part. */
export function checkCommonKeys(part: { type: string; [key: string]: unknown }): void {
  const allowed = part.type.startsWith('data-') ? DATA_KEYS : KEYS[part.type];
  expect([part.type, allowed]).toEqual([part.type, expect.any(Array)]);
  const known = new Set(['type', ...(allowed ?? []).map((key) => key.replace('?', ''))]);
  expect(Object.keys(part).filter((key) => !known.has(key))).toEqual([]);
  const required = (allowed ?? []).filter((key) => !key.endsWith('?'));
  expect(required.filter((key) => !(key in part))).toEqual([]);
  if (part.type === 'finish') expect(FINISH_REASONS).toContain(part['finishReason']);
}
