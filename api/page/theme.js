// Before anything is painted, so that nobody who chose the dark is shown the light first.
const theme = localStorage.getItem("noodlings.theme");
if (theme) document.documentElement.dataset.theme = theme;
