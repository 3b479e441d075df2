/** One scrape of an endpoint in Prometheus' text format. */
export interface Scrape {
  text: string;
  /** Sums the samples of a name whose labels have these values; undefined without such samples. */
  sum: (name: string, labels?: Record<string, string>) => number | undefined;
  series: string[];
  /** Names of all samples; a histogram's end in `_bucket`, `_sum` and `_count`. */
  names: Set<string>;
}

export async function scrape(port: unknown): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${String(port)}/metrics`);
  return parseScrape(await response.text());
}

export function parseScrape(text: string): Scrape {
  const samples = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const space = line.lastIndexOf(' ');
      const series = line.slice(0, space);
      return { series, name: series.split('{')[0] ?? '', value: Number(line.slice(space + 1)) };
    });
  return {
    text,
    sum: (name, labels = {}) => {
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      const found = samples.filter(
        (sample) => sample.name === name && wanted.every((label) => sample.series.includes(label)),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
    series: samples.map(({ series }) => series),
    names: new Set(samples.map(({ name }) => name)),
  };
}
