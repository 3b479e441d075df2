import { readString } from './cjson-string.js';
import { parseDouble } from './doubles.js';
import { isDigit, isWord } from './text.js';

/** As cjson names them where it expected something else. */
export type TokenType =
  | 'T_OBJ_BEGIN'
  | 'T_OBJ_END'
  | 'T_ARR_BEGIN'
  | 'T_ARR_END'
  | 'T_STRING'
  | 'T_NUMBER'
  | 'T_BOOLEAN'
  | 'T_NULL'
  | 'T_COLON'
  | 'T_COMMA'
  | 'T_END'
  | 'T_ERROR';

/** A NUL ends the text, and what is behind it is not looked at. */
const SINGLE = new Map<string, TokenType>([
  ['{', 'T_OBJ_BEGIN'],
  ['}', 'T_OBJ_END'],
  ['[', 'T_ARR_BEGIN'],
  [']', 'T_ARR_END'],
  [':', 'T_COLON'],
  [',', 'T_COMMA'],
  ['\0', 'T_END'],
  ['', 'T_END'],
]);

const ZERO = 48;
/** So many digits always fit into a number. */
const SAFE_DIGITS = 15;

/** Reads a JSON text token by token, as cjson does. */
export class CjsonTokens {
  /** Of a string, number or boolean. */
  value: string | number | boolean = '';
  private type: TokenType = 'T_ERROR';
  private problem = '';
  private index = 0;
  private at = 0;
  private readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  next(): TokenType {
    this.read();
    return this.type;
  }

  private read(): void {
    const { json } = this;
    while (isWhiteSpace(json.charCodeAt(this.at))) this.at += 1;
    this.index = this.at;
    const character = json.charAt(this.at);
    if (character === '"') {
      this.readString();
      return;
    }
    const single = SINGLE.get(character);
    if (single !== undefined) {
      this.type = single;
      if (single !== 'T_END') this.at += 1;
      return;
    }
    if (character === '-' || isDigit(json.charCodeAt(this.at))) this.readNumber();
    else this.readWord();
  }

  /** How many bytes were read. */
  bytesRead(): number {
    return this.bytesBefore(this.at);
  }

  /** Says what stands where something else was expected. */
  unexpected(expected: string): Error {
    const found = this.type === 'T_ERROR' ? this.problem : this.type;
    const place = String(this.bytesBefore(this.index) + 1);
    return new Error(`Expected ${expected} but found ${found} at character ${place}`);
  }

  private bytesBefore(at: number): number {
    return Buffer.byteLength(this.json.slice(0, at));
  }

  private readString(): void {
    const read = readString(this.json, this.at + 1);
    if ('problem' in read) {
      this.at = read.at;
      this.index = read.at;
      this.fail(read.problem);
      return;
    }
    this.type = 'T_STRING';
    this.value = read.text;
    this.at = read.end;
  }

  /** cjson takes what strtod() takes: hexadecimals too, and zeros in front. */
  private readNumber(): void {
    if (this.readPlainInteger()) return;
    const { value, end } = parseDouble(this.json, this.at);
    if (end === this.at) {
      this.fail('invalid number');
      return;
    }
    this.type = 'T_NUMBER';
    this.value = value;
    this.at = end;
  }

  private readPlainInteger(): boolean {
    const { json } = this;
    let end = this.at;
    let value = 0;
    while (isDigit(json.charCodeAt(end))) {
      value = value * 10 + (json.charCodeAt(end) - ZERO);
      end += 1;
    }
    if (end === this.at || end - this.at > SAFE_DIGITS) return false;
    if ('.eExX'.includes(json.charAt(end) || ',')) return false;
    this.type = 'T_NUMBER';
    this.value = value;
    this.at = end;
    return true;
  }

  private readWord(): void {
    if (this.skipWord('true')) {
      this.type = 'T_BOOLEAN';
      this.value = true;
    } else if (this.skipWord('false')) {
      this.type = 'T_BOOLEAN';
      this.value = false;
    } else if (this.skipWord('null')) this.type = 'T_NULL';
    else if (this.isOddNumber()) this.readNumber();
    else this.fail('invalid token');
  }

  private skipWord(word: string): boolean {
    if (!this.json.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  /** Numbers that are none in JSON and do not begin with a digit. */
  private isOddNumber(): boolean {
    const word = this.json.slice(this.at, this.at + 3);
    return word.startsWith('+') || isWord(word, 'inf') || isWord(word, 'nan');
  }

  private fail(problem: string): void {
    this.type = 'T_ERROR';
    this.problem = problem;
  }
}

function isWhiteSpace(unit: number): boolean {
  return unit === 32 || unit === 9 || unit === 10 || unit === 13;
}
