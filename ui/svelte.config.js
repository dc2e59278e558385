// Runes everywhere; styles go to files, never into the page, as the policy wants it.
export default {
    compilerOptions: { runes: true, cssHash: ({ hash, css }) => `s${hash(css).slice(0, 5)}` },
};
