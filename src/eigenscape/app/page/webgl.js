/**
 * Points drawn by WebGL 2: one buffer of positions, one of colours, one draw call.
 *
 * Few points are discs with a thin rim. Many points are added up in a half-float texture (sum of colours, number of
 * points) and shaded by the logarithm of their number, in the mean colour of the pixel.
 * @module
 */

/**
 * @typedef {object} Frame  What a renderer draws.
 * @property {number} width  CSS pixels
 * @property {number} height
 * @property {number} ratio  device pixels per CSS pixel
 * @property {import("./view.js").View} view
 * @property {number} size  diameter of a point in CSS pixels
 * @property {boolean} density  shade by the number of points
 * @property {number} toneMax  number of overlapping points that is drawn opaque
 * @property {boolean} dimmed  some points are dimmed (alpha of their colour below 255) and drawn first
 * @property {[number, number, number]} background  0 to 255
 * @property {number} step  draw every step-th point only
 * @property {number} depthRange  half of the extent along the line of sight, of a view in space
 */

const VERTEX = `#version 300 es
in vec2 position;
in float depth;
in vec4 color;
uniform mat3 rotation;
uniform vec3 pivot;
uniform vec2 center;
uniform vec2 scale;
uniform float size;
uniform float depthScale;
uniform int stage;
out vec4 shade;
out float haze;
void main() {
  vec3 p = rotation * (vec3(position, depth) - pivot);
  bool full = color.a > 0.99;
  bool drawn = color.a > 0.0 && (stage == 0 || (stage == 2) == full);
  gl_Position = drawn ? vec4((p.xy - center) * scale, clamp(-p.z * depthScale, -0.99, 0.99), 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  haze = depthScale > 0.0 ? clamp(0.5 - 0.5 * p.z * depthScale, 0.0, 1.0) : 0.0;
  gl_PointSize = size * (depthScale > 0.0 ? 1.25 - 0.5 * haze : 1.0);
  shade = color;
}`;

const DISCS = `#version 300 es
precision highp float;
in vec4 shade;
in float haze;
uniform float size;
uniform float opacity;
uniform vec3 background;
uniform bool spatial;
out vec4 result;
void main() {
  float radius = 0.5 * size, r = size * length(gl_PointCoord - 0.5);
  float cover = size > 2.5 ? 1.0 - smoothstep(radius - 1.0, radius, r) : 1.0;
  if (spatial && cover < 0.5) discard;
  float rim = size > 6.0 ? smoothstep(radius - 1.8, radius - 0.9, r) : 0.0;
  vec3 rgb = mix(mix(shade.rgb, background, 0.55 * haze), background, 0.7 * rim);
  float alpha = spatial ? 1.0 : cover * (shade.a > 0.99 ? opacity : shade.a);
  if (spatial && shade.a < 0.99) rgb = mix(background, rgb, shade.a);
  result = vec4(rgb * alpha, alpha);
}`;

const SUM = `#version 300 es
precision highp float;
in vec4 shade;
in float haze;
uniform float size;
out vec4 result;
void main() {
  float cover = size > 2.5 ? 1.0 - smoothstep(0.4, 0.5, length(gl_PointCoord - 0.5)) : 1.0;
  float weight = cover * (shade.a > 0.99 ? 1.0 : 0.35 * shade.a);
  result = vec4(shade.rgb * weight, weight);
}`;

const SCREEN = `#version 300 es
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

const TONE = `#version 300 es
precision highp float;
uniform sampler2D sums;
uniform float logMax;
out vec4 result;
void main() {
  vec4 sum = texelFetch(sums, ivec2(gl_FragCoord.xy), 0);
  if (sum.a <= 0.0) { result = vec4(0.0); return; }
  float alpha = sum.a < 1.0 ? 0.4 * sum.a : clamp(0.4 + 0.6 * log2(sum.a) / logMax, 0.4, 1.0);
  result = vec4(sum.rgb / sum.a * alpha, alpha);
}`;

/** Renderer by WebGL 2. */
export class WebglPoints {
  /**
   * Return a renderer, or null where there is no WebGL 2.
   * @param {HTMLCanvasElement} canvas
   * @returns {WebglPoints | null}
   */
  static create(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true, powerPreference: "high-performance" });
    return gl ? new WebglPoints(canvas, gl) : null;
  }

  /** @param {HTMLCanvasElement} canvas @param {WebGL2RenderingContext} gl */
  constructor(canvas, gl) {
    this.kind = "webgl";
    this.canvas = canvas;
    this.gl = gl;
    this.n = 0;
    this.lost = false;
    const name = gl.getExtension("WEBGL_debug_renderer_info") ? gl.getParameter(0x9246) : ""; // UNMASKED_RENDERER_WEBGL
    /** Whether there is no graphics processor behind it: many points are then drawn faster by `CanvasPoints`. */
    this.software = /swiftshader|llvmpipe|software|basic render/i.test(String(name));
    /** @type {Float32Array} */ this.xy = new Float32Array(0);
    /** @type {Float32Array | null} */ this.z = null;
    /** @type {Uint8Array} */ this.rgba = new Uint8Array(0);
    /** @type {() => void} Called when a lost context is there again. */
    this.onRestored = () => {};
    canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); this.lost = true; });
    canvas.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      this.prepare();
      this.setPositions(this.xy, this.z);
      this.setColors(this.rgba);
      this.onRestored();
    });
    this.prepare();
  }

  /** Compile programs and create buffers. @returns {void} */
  prepare() {
    const gl = this.gl;
    this.canSum = gl.getExtension("EXT_color_buffer_float") !== null || gl.getExtension("EXT_color_buffer_half_float") !== null;
    this.discs = linkProgram(gl, VERTEX, DISCS);
    this.sum = linkProgram(gl, VERTEX, SUM);
    this.tone = linkProgram(gl, SCREEN, TONE);
    this.buffers = { xy: gl.createBuffer(), z: gl.createBuffer(), rgba: gl.createBuffer() };
    this.texture = gl.createTexture();
    this.frameBuffer = gl.createFramebuffer();
    /** @type {number[]} */ this.textureSize = [0, 0];
    gl.disable(gl.DITHER);
  }

  /** @param {Float32Array} xy  interleaved @param {Float32Array | null} z @returns {void} */
  setPositions(xy, z) {
    this.xy = xy;
    this.z = z;
    this.n = xy.length >> 1;
    this.upload(this.buffers?.xy, xy);
    if (z) this.upload(this.buffers?.z, z);
  }

  /** @param {Uint8Array} rgba  alpha 0: hidden, 255: drawn, else dimmed @returns {void} */
  setColors(rgba) {
    this.rgba = rgba;
    this.upload(this.buffers?.rgba, rgba);
  }

  /** @param {WebGLBuffer | undefined} buffer @param {Float32Array | Uint8Array} values @returns {void} */
  upload(buffer, values) {
    if (this.lost || !buffer) return;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, values, this.gl.STATIC_DRAW);
  }

  /** @param {Frame} frame @returns {void} */
  draw(frame) {
    const gl = this.gl, width = Math.round(frame.width * frame.ratio), height = Math.round(frame.height * frame.ratio);
    if (this.lost || !width || !height) return;
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clearDepth(1);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!this.n || this.rgba.length !== 4 * this.n) return;
    gl.enable(gl.BLEND);
    const spatial = frame.view.spatial;
    if (frame.density && this.canSum && !spatial) this.drawSums(frame, width, height);
    else {
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      if (spatial) gl.enable(gl.DEPTH_TEST); else gl.disable(gl.DEPTH_TEST);
      const stages = frame.dimmed && !spatial ? [1, 2] : [0];
      for (const stage of stages) this.drawPoints(/** @type {WebGLProgram} */ (this.discs), frame, stage);
      gl.disable(gl.DEPTH_TEST);
    }
  }

  /** @param {Frame} frame @param {number} width @param {number} height @returns {void} */
  drawSums(frame, width, height) {
    const gl = this.gl, tone = /** @type {WebGLProgram} */ (this.tone);
    gl.bindTexture(gl.TEXTURE_2D, this.texture ?? null);
    if (this.textureSize?.[0] !== width || this.textureSize?.[1] !== height) {
      this.textureSize = [width, height];
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA16F, width, height, 0, gl.RGBA, gl.HALF_FLOAT, null);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frameBuffer ?? null);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture ?? null, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.blendFunc(gl.ONE, gl.ONE);
    this.drawPoints(/** @type {WebGLProgram} */ (this.sum), frame, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(tone);
    gl.uniform1i(gl.getUniformLocation(tone, "sums"), 0);
    gl.uniform1f(gl.getUniformLocation(tone, "logMax"), Math.log2(Math.max(2, frame.toneMax / frame.step)));
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  /** @param {WebGLProgram} program @param {Frame} frame @param {number} stage @returns {void} */
  drawPoints(program, frame, stage) {
    const gl = this.gl, view = frame.view;
    /** @param {string} name @returns {WebGLUniformLocation | null} */
    const at = (name) => gl.getUniformLocation(program, name);
    gl.useProgram(program);
    gl.uniformMatrix3fv(at("rotation"), true, view.rotation());
    gl.uniform3fv(at("pivot"), view.spatial ? view.pivot : [view.x, view.y, 0]);
    gl.uniform2f(at("center"), view.spatial ? view.x : 0, view.spatial ? view.y : 0);
    gl.uniform2f(at("scale"), (2 * view.scaleX) / frame.width, (2 * view.scaleY) / frame.height);
    gl.uniform1f(at("size"), Math.max(1, frame.size * frame.ratio));
    gl.uniform1f(at("depthScale"), view.spatial ? 1 / Math.max(frame.depthRange, 1e-20) : 0);
    gl.uniform1i(at("stage"), stage);
    gl.uniform1f(at("opacity"), this.n > 4000 ? 0.8 : 0.92);
    gl.uniform3fv(at("background"), frame.background.map((channel) => channel / 255));
    gl.uniform1i(at("spatial"), view.spatial ? 1 : 0);
    const step = Math.max(1, Math.min(31, frame.step)); // strides have at most 255 bytes
    this.attribute(program, "position", this.buffers?.xy, 2, gl.FLOAT, false, 8 * step);
    this.attribute(program, "depth", this.z && view.spatial ? this.buffers?.z : undefined, 1, gl.FLOAT, false, 4 * step);
    this.attribute(program, "color", this.buffers?.rgba, 4, gl.UNSIGNED_BYTE, true, 4 * step);
    gl.drawArrays(gl.POINTS, 0, Math.floor((this.n - 1) / step) + 1);
  }

  /**
   * @param {WebGLProgram} program
   * @param {string} name
   * @param {WebGLBuffer | undefined} buffer
   * @param {number} size
   * @param {number} type
   * @param {boolean} normalized
   * @param {number} stride
   * @returns {void}
   */
  attribute(program, name, buffer, size, type, normalized, stride) {
    const gl = this.gl, location = gl.getAttribLocation(program, name);
    if (location < 0) return;
    if (!buffer) {
      gl.disableVertexAttribArray(location);
      gl.vertexAttrib1f(location, 0);
      return;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, type, normalized, stride, 0);
  }

  /** Wait until the last frame is drawn. @returns {void} */
  finish() {
    if (!this.lost) this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  /** Release the graphics memory. @returns {void} */
  destroy() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

/**
 * @param {WebGL2RenderingContext} gl
 * @param {string} vertex
 * @param {string} fragment
 * @returns {WebGLProgram}
 */
function linkProgram(gl, vertex, fragment) {
  const program = /** @type {WebGLProgram} */ (gl.createProgram());
  for (const [type, source] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]])) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(type));
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(`shader: ${gl.getShaderInfoLog(shader)}`);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(`shaders: ${gl.getProgramInfoLog(program)}`);
  return program;
}
