// Lays out a graph away from the page, which answers meanwhile.
import { Net } from './graph';
import { layout } from './layout';

addEventListener('message', (m: MessageEvent<{ net: Net; ratio: number }>) => {
  postMessage(layout(m.data.net, m.data.ratio));
});
