/** Texts by number, each once. */
export interface Texts {
  number: (text: string) => number;
  text: (number: number) => string;
}

export function createTexts(): Texts {
  const numbers = new Map<string, number>();
  const texts: string[] = [];
  return {
    number: (text) => {
      let number = numbers.get(text);
      if (number === undefined) {
        number = texts.push(text) - 1;
        numbers.set(text, number);
      }
      return number;
    },
    text: (number) => texts[number] ?? '',
  };
}
