// Runs before anything is painted, so that a dark page does not flash light first.
const theme = localStorage.getItem("noodlings.theme");
if (theme) document.documentElement.dataset.theme = theme;
