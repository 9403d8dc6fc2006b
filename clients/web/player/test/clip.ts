import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The demo's clip, cut for HLS: what stands before the first frame, and one piece for each second. */
export function clip(): { head: Buffer; seconds: Buffer[] } {
  const file = readFileSync(resolve(import.meta.dirname, '../../../../crates/tidegate/src/demo/picture/clip.mp4'));
  const seconds: Buffer[][] = [];
  let head = 0;
  let second = 0;
  for (let at = 0; at < file.length; ) {
    const box = file.subarray(at, at + file.readUInt32BE(at));
    const kind = box.toString('latin1', 4, 8);
    if (kind === 'moof') second = secondOf(box) ?? second;
    if (kind === 'moof' || kind === 'mdat') {
      seconds[second] ??= [];
      seconds[second]?.push(box);
    } else if (seconds.length === 0) {
      head = at + box.length;
    }
    at += box.length;
  }
  return { head: file.subarray(0, head), seconds: seconds.map((boxes) => Buffer.concat(boxes)) };
}

/** The second that a frame of the picture belongs to; sound goes with the frame before it. */
function secondOf(moof: Buffer): number | undefined {
  const track = moof.readUInt32BE(moof.indexOf('tfhd') + 8);
  const time = moof.indexOf('tfdt');
  const base = moof[time + 4] === 0 ? moof.readUInt32BE(time + 8) : Number(moof.readBigUInt64BE(time + 8));
  return track === PICTURE ? Math.floor(base / UNITS) : undefined;
}

const PICTURE = 1;
/** In a second. */
const UNITS = 15_360;
