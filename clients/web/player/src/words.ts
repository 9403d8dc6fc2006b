/** What a player says, in one language. `{…}` is filled in. */
export interface Words {
  asking: string;
  wait: string;
  /** Before `wait`, when an old place is gone (S8). */
  place_gone: string;
  offer: string;
  full: string;
  starting: string;
  relays_full: string;
  lost: string;
  kicked: string;
  capped: string;
  limited: string;
  not_started: string;
  ended: string;
  unanswered: string;
  /** The page is set up wrongly; why is for its maker, in the event and the console. */
  refused: string;
  join: string;
  play: string;
  unmute: string;
}

/** The languages that come with the player. A page adds its own, or changes these. */
export const words: Record<string, Words> = {
  en: {
    asking: 'Finding you a seat…',
    wait: 'You are number {position} in line.',
    place_gone: 'Your old place is gone.',
    offer: 'A seat is free. Press Join within {offer_s} s.',
    full: 'The stream and its line are full. Trying again in {retry_s} s.',
    starting: 'You have a seat. Starting the picture…',
    relays_full: 'The stream is full. Waiting for a seat...',
    lost: 'Your seat was given up. Press Play to ask again.',
    kicked: 'You were removed from this stream.',
    capped: 'This stream cannot take more viewers now.',
    limited: 'Too many tries from your network. Trying again in {s} s.',
    not_started: 'The stream has not started.',
    ended: 'The stream has ended.',
    unanswered: 'Connection lost. Trying again…',
    refused: 'This stream cannot be shown here.',
    join: 'Join',
    play: 'Play',
    unmute: 'Sound on',
  },
  de: {
    asking: 'Ein Platz wird gesucht…',
    wait: 'Sie sind Nummer {position} in der Warteschlange.',
    place_gone: 'Ihr alter Platz in der Schlange ist weg.',
    offer: 'Ein Platz ist frei. Drücken Sie innerhalb von {offer_s} s auf Beitreten.',
    full: 'Der Stream und seine Warteschlange sind voll. Neuer Versuch in {retry_s} s.',
    starting: 'Sie haben einen Platz. Das Bild wird gestartet…',
    relays_full: 'Der Stream ist voll. Es wird auf einen Platz gewartet…',
    lost: 'Ihr Platz wurde freigegeben. Drücken Sie auf Abspielen, um erneut zu fragen.',
    kicked: 'Sie wurden aus diesem Stream entfernt.',
    capped: 'Dieser Stream kann gerade keine weiteren Zuschauer aufnehmen.',
    limited: 'Zu viele Versuche aus Ihrem Netz. Neuer Versuch in {s} s.',
    not_started: 'Der Stream hat noch nicht begonnen.',
    ended: 'Der Stream ist beendet.',
    unanswered: 'Verbindung verloren. Neuer Versuch…',
    refused: 'Dieser Stream kann hier nicht gezeigt werden.',
    join: 'Beitreten',
    play: 'Abspielen',
    unmute: 'Ton an',
  },
  es: {
    asking: 'Buscando una plaza…',
    wait: 'Eres el número {position} de la cola.',
    place_gone: 'Tu lugar anterior ya no está.',
    offer: 'Hay una plaza libre. Pulsa Entrar antes de {offer_s} s.',
    full: 'La emisión y su cola están llenas. Nuevo intento en {retry_s} s.',
    starting: 'Tienes una plaza. Iniciando la imagen…',
    relays_full: 'La emisión está llena. Esperando una plaza…',
    lost: 'Tu plaza se ha liberado. Pulsa Reproducir para volver a pedirla.',
    kicked: 'Se te ha expulsado de esta emisión.',
    capped: 'Esta emisión no admite más espectadores por ahora.',
    limited: 'Demasiados intentos desde tu red. Nuevo intento en {s} s.',
    not_started: 'La emisión no ha empezado.',
    ended: 'La emisión ha terminado.',
    unanswered: 'Conexión perdida. Reintentando…',
    refused: 'Esta emisión no se puede mostrar aquí.',
    join: 'Entrar',
    play: 'Reproducir',
    unmute: 'Activar sonido',
  },
  ja: {
    asking: '席を探しています…',
    wait: '順番待ちの{position}番目です。',
    place_gone: '以前の順番は無効になりました。',
    offer: '席が空きました。{offer_s}秒以内に「参加」を押してください。',
    full: '配信も順番待ちも満員です。{retry_s}秒後に再試行します。',
    starting: '席を確保しました。映像を開始しています…',
    relays_full: '配信は満員です。空きを待っています…',
    lost: '席が解放されました。もう一度申し込むには「再生」を押してください。',
    kicked: 'この配信から退出させられました。',
    capped: 'この配信は現在これ以上の視聴者を受け入れられません。',
    limited: 'お使いのネットワークからの試行が多すぎます。{s}秒後に再試行します。',
    not_started: '配信はまだ始まっていません。',
    ended: '配信は終了しました。',
    unanswered: '接続が切れました。再接続しています…',
    refused: 'この配信はここでは表示できません。',
    join: '参加',
    play: '再生',
    unmute: '音声をオン',
  },
};

/** The words of a language tag, `de-AT` by `de`; English for one that nobody translated. */
export function wordsOf(language: string): Words {
  const tags = language.split('-').map((_, index, parts) => parts.slice(0, parts.length - index).join('-'));
  const found = tags.map((tag) => words[tag.toLowerCase()]).find((known) => known !== undefined);
  return found ?? (words.en as Words);
}
