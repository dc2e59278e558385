// What tests of motions share: a clock of the page that counts frames, so that a motion has the same frames on a busy machine.

/** In the page, before its scripts: each frame of the browser is 16 ms later than the one before, however long it took. */
export function clockOfFrames() {
  const FRAME_MS = 16;
  let frames = 0;
  let last = -1;
  performance.now = () => frames * FRAME_MS;
  const native = requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (call) =>
    native((at) => {
      if (at !== last) frames++;
      last = at;
      call(frames * FRAME_MS);
    });
}
/** A motion of 120 ms has seven such frames between its beginning and its end. */
export const LEAST_PLACES = 8;
