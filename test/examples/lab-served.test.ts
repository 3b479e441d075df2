import { createExampleAgents, isLabServed } from '../../examples/index.js';

it('the lab agent is served as its setting says', () => {
  for (const setting of [true, false]) {
    expect(isLabServed({ setting, hasAccounts: !setting, host: '127.0.0.1' })).toBe(setting);
  }
});

it('users with accounts are served without the lab agent', () => {
  expect(isLabServed({ setting: undefined, hasAccounts: true, host: '127.0.0.1' })).toBe(false);
  expect(createExampleAgents({ lab: false }).map(({ name }) => name)).toEqual(['support']);
});

it.each([
  ['127.0.0.1', true],
  ['127.4.5.6', true],
  ['localhost', true],
  ['::1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.evil.example', false],
  ['192.168.1.5', false],
])('the lab agent is served without accounts at %s: %s', (host, served) =>
  expect(isLabServed({ setting: undefined, hasAccounts: false, host })).toBe(served),
);
