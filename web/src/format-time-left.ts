const DAY_S = 86_400;

/** Time that is left, as a clock shows it; days where there are some. */
export function formatTimeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const days = Math.floor(seconds / DAY_S);
  const [h, m, s] = [Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = h > 0 || days > 0 ? [h, two(m), two(s)] : [m, two(s)];
  const left = clock.join(':');
  return days > 0 ? `${String(days)} days and ${left} left` : `${left} left`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
