/** A form of a page as a browser would send it. */
export interface HtmlForm {
  readonly method: string;
  /** The `action` as written; the page's own address when the form names none. */
  readonly action: string;
  /** Inputs with a name, but buttons and boxes that are not ticked. */
  readonly inputs: ReadonlyMap<string, string>;
  readonly buttons: readonly { readonly name: string; readonly value: string }[];
}

type Attributes = ReadonlyMap<string, string>;

/** The forms of a page that we rendered; no parser for the HTML of others. */
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

/** What a reader sees, white space folded. */
export function textOf(html: string): string {
  const visible = html.replace(/<(head|script|style)\b.*?<\/\1>/gs, ' ').replace(/<[^>]*>/g, ' ');
  return decodeEntities(visible).replace(/\s+/g, ' ').trim();
}

function isSent(input: Attributes): boolean {
  const type = input.get('type');
  return !((type === 'checkbox' || type === 'radio') && !input.has('checked'));
}

function tags(html: string, name: string): Attributes[] {
  // A value may hold `>`.
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
