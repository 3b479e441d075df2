export function findPrometheus(
  env?: Record<string, string | undefined>,
): Promise<{ prometheus: string; promtool: string } | undefined>;
