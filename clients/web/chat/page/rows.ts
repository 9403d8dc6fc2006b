import type { Author, ChatEvent, EventOf, Run, Words } from '../src/index.ts';

/** The row that an event adds to the chat; nothing for what changes another part of the page. */
export function row(event: ChatEvent): HTMLElement | undefined {
  const item = element('li', 'row');
  if (event.id !== undefined) item.dataset.id = event.id;
  if ('author' in event && event.author?.channel_id !== undefined) item.dataset.channel = event.author.channel_id;
  switch (event.kind) {
    case 'message':
      item.append(author(event.author), text(event));
      return item;
    case 'paid':
      return paid(item, event, event.color, text(event));
    case 'sticker':
      return paid(item, event, event.color, picture(event.image, event.alt));
    case 'membership':
      item.className = 'card joined';
      item.append(author(event.author), event.header ?? '', ...paragraph(event));
      return item;
    case 'gift':
    case 'gift_received':
      item.className = 'card gift';
      item.append(author(event.author), text(event));
      return item;
    case 'mode':
      return notice(item, event);
    case 'status':
      // The stream's own is in the page's head.
      return event.about === 'stream' || isEmpty(event) ? undefined : notice(item, event);
    case 'gap':
      item.className = 'missing';
      item.textContent =
        event.missed === undefined ? 'Some messages are missing here.' : `${event.missed} messages are missing here.`;
      return item;
    default:
      return undefined;
  }
}

/** What is pinned above the chat. */
export function pinned(banner: EventOf<'banner'>): Node[] {
  const parts: Node[] = [];
  if (banner.header !== undefined) parts.push(element('p', 'header', banner.header));
  const item = banner.item === undefined ? undefined : row(banner.item);
  const words = element('p', 'words');
  words.append(...(item === undefined ? [text(banner)] : [...item.childNodes]));
  return [...parts, words];
}

/** A vote and how it stands. */
export function vote(poll: EventOf<'poll'>): Node[] {
  const question = poll.question ?? 'A vote';
  const votes = poll.votes === undefined ? '' : ` · ${poll.votes.toLocaleString()} votes`;
  const choices = (poll.choices ?? []).map((choice) => {
    const line = element('div', 'choice');
    line.append(element('span', 'words', choice.text));
    if (choice.share !== undefined) {
      const percent = `${Math.round(choice.share * 100)} %`;
      const meter = element('meter', 'share');
      meter.value = choice.share;
      meter.ariaLabel = `${choice.text}: ${percent}`;
      line.append(element('span', 'percent', percent), meter);
    }
    return line;
  });
  return [element('p', 'header', question + votes), ...choices];
}

function paid(
  item: HTMLElement,
  event: EventOf<'paid' | 'sticker'>,
  color: string | undefined,
  content: Node,
): HTMLElement {
  item.className = 'card paid';
  if (color !== undefined && /^#[0-9a-f]{6}$/.test(color)) {
    item.style.setProperty('--paid', color);
    item.style.setProperty('--paid-text', isLight(color) ? '#000000' : '#ffffff');
  }
  const said = element('p', 'said');
  said.append(content);
  item.append(author(event.author), element('span', 'amount', event.amount.text));
  if (said.textContent !== '' || said.childElementCount > 1) item.append(said);
  return item;
}

function notice(item: HTMLElement, words: Words): HTMLElement {
  item.className = 'notice';
  item.append(text(words));
  return item;
}

function author(who: Author): HTMLElement {
  const span = element('span', 'author', who.name ?? 'Somebody');
  // The highest comes first for a reader who sees colours, all of them stand in words for one who does not.
  const badges = who.badges ?? [];
  span.dataset.badge = RANKS.find((rank) => badges.some((badge) => badge.badge === rank)) ?? 'none';
  span.append(...badges.map((badge) => element('span', 'badge', badge.label ?? badge.badge)));
  return span;
}

/** Names and words of any language, in its own direction. */
function text(words: Words): HTMLElement {
  const span = element('span', 'words');
  span.dir = 'auto';
  if (words.runs === undefined) span.textContent = words.text ?? '';
  else span.append(...words.runs.map(part));
  return span;
}

function part(run: Run): Node {
  if (run.run === 'emoji') {
    const name = run.alt ?? run.shortcut ?? run.id ?? '';
    return run.custom === true ? picture(run.url, name) : document.createTextNode(run.id ?? name);
  }
  if (run.link !== undefined && /^https?:/.test(run.link)) {
    const link = element('a', 'link', run.text);
    link.href = run.link;
    link.rel = 'noopener noreferrer';
    link.target = '_blank';
    return link;
  }
  return run.bold === true ? element('b', 'bold', run.text) : document.createTextNode(run.text);
}

/** A picture, or what it shows where there is none. */
function picture(url: string | undefined, alt: string | undefined): Node {
  if (url === undefined || !url.startsWith('https:')) return document.createTextNode(alt ?? '');
  const image = element('img', 'emoji');
  image.src = url;
  image.alt = alt ?? '';
  image.referrerPolicy = 'no-referrer';
  return image;
}

function paragraph(words: Words): Node[] {
  if (isEmpty(words)) return [];
  const paragraph = element('p', 'said');
  paragraph.append(text(words));
  return [paragraph];
}

function isEmpty(words: Words): boolean {
  return (words.text ?? '') === '' && (words.runs ?? []).length === 0;
}

/** Whether black letters are read better on it than white ones (WCAG's relative luminance). */
function isLight(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  kind: string,
  words = '',
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.className = kind;
  made.textContent = words;
  return made;
}

const RANKS = ['owner', 'moderator', 'member', 'verified'] as const;
