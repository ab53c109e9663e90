/** Where finished lines go; each ends with a line feed. */
export interface LogSink {
  write(line: string): void;
}
