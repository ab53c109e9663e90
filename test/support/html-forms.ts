/** An HTML form as a browser would submit it. */
export interface HtmlForm {
  readonly method: string;
  /** The `action` attribute as written, or the page's path if the form has none. */
  readonly action: string;
  /** Named inputs, without buttons and unchecked boxes. */
  readonly inputs: ReadonlyMap<string, string>;
  readonly buttons: readonly { readonly name: string; readonly value: string }[];
}

type Attributes = ReadonlyMap<string, string>;

/** Parses the forms of a page that Latchkey rendered. Not a parser for arbitrary HTML. */
export function parseForms(html: string, ownPath: string): HtmlForm[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, attributes = '', content = '']) => {
    const form = parseAttributes(attributes);
    const inputs = new Map<string, string>();
    for (const input of tags(content, 'input')) {
      const name = input.get('name');
      if (name !== undefined && isSent(input)) inputs.set(name, input.get('value') ?? '');
    }
    const buttons = tags(content, 'button').flatMap((button) => {
      const name = button.get('name');
      return name === undefined ? [] : [{ name, value: button.get('value') ?? '' }];
    });
    const action = form.get('action') ?? ownPath;
    return { method: (form.get('method') ?? 'get').toUpperCase(), action, inputs, buttons };
  });
}

/** Returns the visible text, with whitespace collapsed. */
export function textOf(html: string): string {
  const visible = html.replace(/<(head|script|style)\b.*?<\/\1>/gs, ' ').replace(/<[^>]*>/g, ' ');
  return decodeEntities(visible).replace(/\s+/g, ' ').trim();
}

function isSent(input: Attributes): boolean {
  const type = input.get('type');
  return !((type === 'checkbox' || type === 'radio') && !input.has('checked'));
}

function tags(html: string, name: string): Attributes[] {
  // An attribute value may contain `>`.
  const tag = new RegExp(`<${name}\\b((?:"[^"]*"|[^">])*)>`, 'g');
  return [...html.matchAll(tag)].map((match) => parseAttributes(match[1] ?? ''));
}

function parseAttributes(text: string): Attributes {
  const pairs = [...text.matchAll(/([a-z-]+)(?:="([^"]*)")?/gi)];
  return new Map(pairs.map(([, name = '', value = '']) => [name.toLowerCase(), decodeEntities(value)]));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
