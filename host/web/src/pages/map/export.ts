// The map as a file.
import { download } from '../../core/data';
import { fit } from '../../map/canvas';
import { Layer, Scene, palette } from '../../map/draw';
import { Graph, Node } from '../../map/graph';
import { Places, Shape } from '../../map/layout';
import { CanvasPen, SVGPen } from '../../map/pens';

/** Picture is what is drawn. */
interface Picture {
  g: Graph;
  at: Places;
  layer: Layer | null;
  shape: Shape;
  hidden: Map<string, Node[]> | undefined;
}

/** exportMap saves the whole map, whatever part of it is seen. */
export async function exportMap(kind: 'svg' | 'png', p: Picture): Promise<void> {
  const view = fit(p.g, p.at, 1920, 1200),
    canvas = document.createElement('canvas'),
    context = canvas.getContext('2d')!,
    colours = palette(),
    pen = new CanvasPen(context, colours),
    file = p.g.id.replace(/\W+/g, '-');
  const look = {
    selected: new Set<string>(),
    found: '',
    layer: p.layer,
    dim: null,
    flash: new Set<string>(),
    shape: p.shape,
    hidden: p.hidden,
  };
  const scene = new Scene(pen, p.g, p.at, look, colours);
  if (kind === 'svg') {
    const svg = new SVGPen(pen, colours);
    scene.paint(svg, view);
    download(file + '.svg', 'image/svg+xml', svg.document(view));
    return;
  }
  canvas.width = view.width * 2;
  canvas.height = view.height * 2;
  context.scale(2, 2);
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, view.width, view.height);
  scene.paint(pen, view);
  const blob = await new Promise<Blob | null>(done => {
    canvas.toBlob(done);
  });
  if (!blob) throw new Error('The browser cannot write a PNG of this size.');
  download(file + '.png', 'image/png', blob);
}
