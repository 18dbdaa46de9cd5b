// The colours and letters that a map is drawn with.

export interface Colours {
  ink: string;
  soft: string;
  line: string;
  paper: string;
  answering: string;
  silent: string;
  gone: string;
  outside: string;
  unknown: string;
  accent: string;
  bad: string;
}

/** Type is a size of letters: of names, and of what is beside them. */
export type Type = 't0' | 't1';

export interface Palette extends Colours {
  sizes: Record<Type, number>;
  family: string;
}
