/**
 * Colours of categories and of numbers. The same values are in `eigenscape/_palette.py`; a test compares them.
 * @module
 */

/** Okabe and Ito's colours, for up to eight categories. */
const OKABE_ITO = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#F0E442"];
/** Tol's muted colours and black, for nine or ten categories. */
const MUTED = ["#332288", "#DDCC77", "#117733", "#CC6677", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499", "#000000"];
/** For up to twenty categories. */
const MANY = [
  "#0072B2", "#E07B00", "#009E73", "#CC3311", "#7B4FB5", "#8C5A2B", "#D65FA5", "#5B6770", "#A3A500", "#17A5C4",
  "#1F3A93", "#F2B134", "#5FBF6A", "#F08A7E", "#B39DDB", "#C9A27C", "#F3B6D5", "#A8B2B9", "#5C6B00", "#8FD3E8",
];
/** Colours of `MUTED` on a dark background: lighter ones of about the same hue, also distinct with red-green blindness. */
const ON_DARK = {
  "#332288": "#7A6CC4", "#DDCC77": "#CAB775", "#117733": "#88ECAF", "#CC6677": "#D64A6C", "#88CCEE": "#68D7FB",
  "#882255": "#EC9DBF", "#44AA99": "#209E89", "#999933": "#BAB720", "#AA4499": "#DB67EA", "#000000": "#EFEFEF",
};
/** Colours of `MANY` that are too dark on a dark background. */
const MANY_ON_DARK = {
  "#0072B2": "#0078BD", "#7B4FB5": "#8B55CF", "#8C5A2B": "#A0642C", "#5B6770": "#67747E", "#1F3A93": "#4C6FFF", "#5C6B00": "#697A00",
  "#CC3311": "#D14829",
};
/** All other categories. */
const OTHER = "#777777";
/** Missing values. */
export const MISSING = "#CCCCCC";
/** Points without a column to colour by. */
export const PLAIN = "#0072B2";
/** Above this many points the density is shaded. */
export const DENSE = 50000;
/** Colour maps of numbers: 256 colours of six hexadecimal digits. */
const NUMBERS = {
  viridis:
    "44015444025544035745055845065a45085b46095c460b5e460c5f460e61470f6247116347126547146647156747166947186a48196b" +
    "481a6c481c6e481d6f481e70482071482172482273482374472575472676472777472878472a79472b7a472c7b462d7c462f7c46307d" +
    "46317e45327f45347f453580453681443781443982433a83433b83433c84423d84423e854240854141864142864043874044873f4587" +
    "3f47883e48883e49893d4a893d4b893d4c893c4d8a3c4e8a3b508a3b518a3a528b3a538b39548b39558b38568b38578c37588c37598c" +
    "365a8c365b8c355c8c355d8c345e8d345f8d33608d33618d32628d32638d31648d31658d31668d30678d30688d2f698d2f6a8d2e6b8e" +
    "2e6c8e2e6d8e2d6e8e2d6f8e2c708e2c718e2c728e2b738e2b748e2a758e2a768e2a778e29788e29798e287a8e287a8e287b8e277c8e" +
    "277d8e277e8e267f8e26808e26818e25828e25838d24848d24858d24868d23878d23888d23898d22898d228a8d228b8d218c8d218d8c" +
    "218e8c208f8c20908c20918c1f928c1f938b1f948b1f958b1f968b1e978a1e988a1e998a1e998a1e9a891e9b891e9c891e9d881e9e88" +
    "1e9f881ea0871fa1871fa2861fa38620a48520a58521a68521a78422a78423a88323a98224aa8225ab8126ac8127ad8028ae7f29af7f" +
    "2ab07e2bb17d2cb17d2eb27c2fb37b30b47a32b57a33b67935b77836b87738b97639b9763bba753dbb743ebc7340bd7242be7144be70" +
    "45bf6f47c06e49c16d4bc26c4dc26b4fc36951c46853c56755c66657c66559c7645bc8625ec96160c96062ca5f64cb5d67cc5c69cc5b" +
    "6bcd596dce5870ce5672cf5574d05477d05279d1517cd24f7ed24e81d34c83d34b86d44988d5478bd5468dd64490d64392d74195d73f" +
    "97d83e9ad83c9dd93a9fd938a2da37a5da35a7db33aadb32addc30afdc2eb2dd2cb5dd2bb7dd29bade27bdde26bfdf24c2df22c5df21" +
    "c7e01fcae01ecde01dcfe11cd2e11bd4e11ad7e219dae218dce218dfe318e1e318e4e318e7e419e9e419ece41aeee51bf1e51cf3e51e" +
    "f6e61ff8e621fae622fde724",
  cividis:
    "00224d00234f00235000245200255400265500265700275900285b00285c00295e002a60002a62002b64002c66002c67002d69002e6b" +
    "002f6d002f6f0030700030700031700031700432700833700b33700e347011356f14366f16366f18376f1a386f1c386e1d396e1f3a6e" +
    "213b6e223b6e243c6e253d6d273d6d283e6d2a3f6d2b3f6d2c406d2e416c2f426c30426c31436c32446c34446c35456c36466c37466c" +
    "38476c39486c3a486b3b496b3d4a6b3e4b6b3f4b6b404c6b414d6b424d6b434e6b444f6b454f6b46506b47516b48516b49526b4a536b" +
    "4b546c4c546c4d556c4e566c4e566c4f576c50586c51586c52596c535a6c545a6c555b6d565c6d575d6d585d6d595e6d595f6d5a5f6d" +
    "5b606e5c616e5d616e5e626e5f636e60646e61646f61656f62666f63666f64676f656870666970676970686a70686b71696b716a6c71" +
    "6b6d716c6d726d6e726e6f726e70736f7073707173717273727374737374747475747575757575767676777776787876797877797977" +
    "7a7a777b7b777c7b787d7c787e7d787f7d78807e78817f788280788380788481788582788583788683788784788885788986788a8678" +
    "8b87788c88788d89788e89788f8a77908b77918c77928c77938d77948e77958f77968f779790769891769992769a93769b93769c9476" +
    "9d95759e96759f9675a09775a19874a29974a39a74a49a74a59b73a69c73a79d73a89e73a99e72aa9f72aba072aca171ada271aea271" +
    "afa370b0a470b1a570b2a66fb3a66fb4a76fb5a86eb6a96eb7aa6db8ab6db9ab6dbaac6cbbad6cbcae6bbdaf6bbeb06abfb06ac1b169" +
    "c2b269c3b368c4b468c5b567c6b567c7b666c8b765c9b865cab964cbba64ccbb63cdbc62cebc62cfbd61d0be60d2bf60d3c05fd4c15e" +
    "d5c25ed6c35dd7c35cd8c45bd9c55adac65adbc759dcc858dec957dfca56e0cb55e1cc54e2cc53e3cd52e4ce51e5cf50e6d04fe8d14e" +
    "e9d24dead34cebd44becd54aedd648eed747efd846f1d944f2da43f3da42f4db40f5dc3ff6dd3df8de3bf9df3afae038fbe136fde234" +
    "fde333fde534fde636fde737",
};
/** At most this many categories have their own colour. */
const MAX_CATEGORIES = 20;

/** @typedef {{names: string[], colors: string[], counts: number[], codes: Uint8Array, nOwn: number}} Categories */

/**
 * Colours of `count` categories, at most twenty.
 * @param {number} count
 * @returns {string[]}
 */
function categoryColors(count) {
  const palette = [OKABE_ITO, MUTED, MANY].find((one) => count <= one.length) ?? MANY;
  return palette.slice(0, count);
}

/**
 * Assign a colour to every category: of more than twenty, the most frequent have their own in the order of the names, the
 * others share one; missing values have another. The same rule as in `eigenscape.plot`.
 * @param {ArrayLike<number>} codes  index of each point's name; any other number is a missing value
 * @param {string[]} names  in the order of the legend
 * @returns {Categories}
 */
export function assignCategories(codes, names) {
  const counts = new Float64Array(names.length + 1);
  for (let i = 0; i < codes.length; i++) counts[Math.min(codes[i] >>> 0, names.length)]++;
  const present = names.map((_, code) => code).filter((code) => counts[code] > 0);
  const kept = [...present].sort((a, b) => counts[b] - counts[a] || a - b).slice(0, MAX_CATEGORIES).sort((a, b) => a - b);
  const index = new Uint8Array(names.length + 1).fill(kept.length);
  kept.forEach((code, place) => { index[code] = place; });
  const made = { names: kept.map((code) => names[code]), colors: categoryColors(kept.length), counts: kept.map((code) => counts[code]) };
  if (present.length > kept.length) {
    made.names.push(`other (${present.length - kept.length})`);
    made.colors.push(OTHER);
    made.counts.push(present.reduce((sum, code) => sum + (index[code] === kept.length ? counts[code] : 0), 0));
  }
  index[names.length] = made.names.length;
  if (counts[names.length]) {
    made.names.push("missing");
    made.colors.push(MISSING);
    made.counts.push(counts[names.length]);
  }
  const colored = new Uint8Array(codes.length);
  for (let i = 0; i < codes.length; i++) colored[i] = index[Math.min(codes[i] >>> 0, names.length)];
  return { ...made, codes: colored, nOwn: kept.length };
}

/**
 * The 256 colours of a colour map, three bytes each.
 * @param {"viridis" | "cividis"} name
 * @returns {Uint8Array}
 */
export function colorMap(name) {
  const text = NUMBERS[name], bytes = new Uint8Array(768);
  for (let i = 0; i < 768; i++) bytes[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/**
 * Red, green and blue of a colour such as "#0072B2".
 * @param {string} color
 * @returns {[number, number, number]}
 */
export function toRgb(color) {
  const value = parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/**
 * A colour as drawn on a dark background: those of `MUTED` and the dark ones of `MANY` have others there, and others that
 * would be too dark to be seen are mixed with white.
 * @param {string} color
 * @param {boolean} dark
 * @returns {string}
 */
export function onBackground(color, dark) {
  const lighter = /** @type {Record<string, string>} */ ({ ...ON_DARK, ...MANY_ON_DARK })[color];
  if (dark && lighter) return lighter;
  const rgb = toRgb(color), luminance = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
  if (!dark || luminance >= 90) return color;
  const share = (90 - luminance) / (255 - luminance) + 0.05;
  return `#${rgb.map((channel) => Math.round(channel + share * (255 - channel)).toString(16).padStart(2, "0")).join("")}`;
}
