// Lays out a graph away from the page, which answers meanwhile.
import { layout } from './layout';
import type { Net } from './graph';

addEventListener('message', (m: MessageEvent<{ net: Net; ratio: number }>) => {
  postMessage(layout(m.data.net, m.data.ratio));
});
