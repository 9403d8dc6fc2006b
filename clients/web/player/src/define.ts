/** Makes `<tidegate-player>` known to the page. */
import { TidegatePlayer } from './element.ts';

if (globalThis.customElements?.get('tidegate-player') === undefined) {
  globalThis.customElements?.define('tidegate-player', TidegatePlayer);
}
