import { z } from 'zod';

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `15m`, `4h` or `3d`, as ms. */
export const duration = z
  .string()
  .regex(/^\d{1,6}[smhd]$/, 'must be a time such as 15m, 4h or 3d')
  .transform((value) => Number(value.slice(0, -1)) * (UNITS[value.slice(-1)] ?? 0));

/** Up to ten of them, or `none`. */
export const durations = z
  .string()
  .transform((value) => (value === 'none' ? [] : value.split(',')))
  .pipe(z.array(z.string().trim().pipe(duration)).max(10, 'must be ten times or fewer'));
