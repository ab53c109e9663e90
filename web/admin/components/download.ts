/** Saves a file that the page has in memory. */
export function saveFile(name: string, file: Blob): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the file when the click returns; some read the URL a moment later.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
