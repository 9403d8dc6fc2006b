/** A small page that shows one live chat. `?video=` says which. */
import { ChatClient, type EventOf } from '../src/index.ts';
import { Log } from './log.ts';
import { pinned, row, vote } from './rows.ts';
import { inWords } from './words.ts';

const video = new URLSearchParams(location.search).get('video');
if (video === null) {
  say('ended', 'Which chat? Write ?video= and a video id behind this address.');
} else {
  show(new ChatClient(`/v1/chat/${encodeURIComponent(video)}/events`));
}

function show(chat: ChatClient): void {
  const log = new Log(part('log'), part('newest'));
  chat.on('event', (event) => {
    const item = row(event);
    if (item !== undefined) log.add(item);
  });
  chat.on('removed', (removed) => log.remove(removed.target_id));
  chat.on('author_removed', (author) => log.removeAuthor(author.channel_id));
  chat.on('replaced', (replaced) => log.replace(replaced.target_id, row(replaced.item)));
  chat.on('banner', (banner) => fill('pinned', banner.change === 'removed' ? [] : pinned(banner)));
  chat.on('poll', (poll) => {
    if (poll.change === 'closed') fill('vote', []);
    else fill('vote', vote(poll));
  });
  chat.on('viewer_count', (count) => {
    part('viewers').textContent = `${count.viewers.toLocaleString()} watching`;
  });
  chat.on('status', (status) => entitle(status));
  chat.on('state', (state) => {
    const limited = state.name === 'open' && state.limitedUntil !== undefined;
    say(limited ? 'limited' : state.name, inWords(state));
  });
}

function entitle(status: EventOf<'status'>): void {
  const title = status.stream?.title;
  if (title === undefined) return;
  part('title').textContent = title;
  document.title = `${title} – live chat`;
}

/** An empty part is not there, for those who see it and those who hear it. */
function fill(id: string, content: Node[]): void {
  part(id).replaceChildren(...content);
  part(id).hidden = content.length === 0;
}

function say(state: string, words: string): void {
  const element = part('state');
  element.dataset.state = state;
  element.textContent = words;
}

function part(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}
