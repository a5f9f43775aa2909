/** The name of a file, or a value, as one word of a command that somebody copies into a shell. Without DOM. */
export function shellWord(text: string): string {
  const word = text.startsWith("-") ? `./${text}` : text;
  return /^[\w.,:=@%+/-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
