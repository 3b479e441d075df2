/**
 * The smallest parser of server-sent events that will do: hands over the text after `data: ` of
 * each line. The load client shares two cores with what it measures, so it does nothing more.
 */
export function createDataLines(onData: (text: string, at: number) => void) {
  let rest = '';
  return (piece: string, at: number): void => {
    const text = rest === '' ? piece : rest + piece;
    let from = 0;
    for (let end = text.indexOf('\n', from); end >= 0; end = text.indexOf('\n', from)) {
      if (text.startsWith('data: ', from)) onData(text.slice(from + 6, end), at);
      from = end + 1;
    }
    rest = text.slice(from);
  };
}
