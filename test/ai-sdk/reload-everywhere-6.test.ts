import { describeReloads } from './recorded/reload-cases.js';

await describeReloads('ai 6');
