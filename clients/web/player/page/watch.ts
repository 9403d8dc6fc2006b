/** A small page that shows one live stream. `?stream=` says which, `?auto-join` takes an offered seat by itself. */
import '../src/define.ts';
import type { StateDetail } from '../src/element.ts';

const asked = new URLSearchParams(location.search);
const player = document.createElement('tidegate-player');
player.setAttribute('stream', asked.get('stream') ?? 'demo');
if (asked.has('auto-join')) player.setAttribute('auto-join', '');

const told = document.querySelector('#told');
let last: HTMLElement | undefined;
player.addEventListener('tidegate:state', (event) => {
  const { state, line } = (event as CustomEvent<StateDetail>).detail;
  const name = state.name === 'in' ? `in, ${state.picture}` : state.name;
  // Seconds that go by are the same row.
  if (last?.dataset.state !== name) {
    last = document.createElement('li');
    last.dataset.state = name;
    told?.append(last);
  }
  last.textContent = line === '' ? name : `${name}: ${line}`;
});
document.querySelector('main')?.prepend(player);
