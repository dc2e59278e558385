// Where the page begins.
document.title = 'Seaboard';
